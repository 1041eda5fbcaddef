"""The encoders of this site, by name: the table `GRASP_ENCODERS` over the row of the tool `encoder`. No torch.

Trained encoders are not in the table: their names say which artifact they are.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.utils.module_loading import import_string

from search.artifact_files import MANIFEST, content_hash
from search.domain.errors import StageError
from search.interfaces import Encoder
from search.neural.encoder_names import is_trained, parts, unavailable
from search.neural.encoders_by_name import EncodersByName

_TRAINED = "search.neural.encoders.cached_sentence_encoder"


def _load_encoder(name: str) -> Encoder:
    """Return the encoder of that name. Its row of `GRASP_ENCODERS` overrides the row of the tool."""
    if is_trained(name):
        return import_string(_TRAINED)(name=name, device=settings.GRASP_DEVICE)
    if name not in settings.GRASP_ENCODERS:
        raise StageError("encoder", missing_encoder(name), permanent=True)
    tool, own = settings.GRASP_TOOLS["encoder"], settings.GRASP_ENCODERS[name]
    options = {**tool.get("OPTIONS", {}), **own.get("OPTIONS", {})}
    return import_string(own.get("BACKEND", tool["BACKEND"]))(name=name, **options)


encoder = EncodersByName(_load_encoder, lambda: settings.GRASP_ENCODER, lambda: settings.GRASP_ENCODERS_KEPT)
"""The encoders of this process, by name. Without a name: the encoder of new releases."""


def missing_encoder(name: str) -> str:
    """Return why this site cannot load the encoder of that name, or an empty string if no reason is known.

    Nothing is loaded, so a model of the hub that was never downloaded is not noticed.
    """
    if is_trained(name):
        return _missing_artifact(name)
    if name not in settings.GRASP_ENCODERS:
        known = ", ".join(settings.GRASP_ENCODERS) or "none"
        return f"this site has no encoder {name}; GRASP_ENCODERS names: {known}"
    reason = unavailable(name)
    return f"the encoder {name} cannot be loaded: {reason}" if reason else ""


def _missing_artifact(name: str) -> str:
    """Return why a trained encoder cannot be loaded. Its files are only checked against their hashes when it is."""
    artifact, expected = parts(name)
    try:
        found = content_hash((Path(settings.GRASP_HOME) / "artifacts" / artifact / MANIFEST).read_bytes())
    except FileNotFoundError:
        return f"there is no trained part {artifact} on this machine"
    except OSError as error:
        return f"the trained part {artifact} cannot be read ({error.strerror})"
    return (
        "" if found == expected else f"the content hash of {artifact} is {found}, and its vectors were made by {name}"
    )
