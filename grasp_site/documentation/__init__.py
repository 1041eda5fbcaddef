"""The documentation: built from `docs/` by MkDocs, served below `/docs/`."""
