"""How dates and times are written, by language: Django takes a language's own formats before those of the settings."""
