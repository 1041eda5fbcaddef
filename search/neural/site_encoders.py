"""The encoders of this site, by name: the table `GRASP_ENCODERS` over the row of the tool `encoder`. No torch."""

from __future__ import annotations

from django.conf import settings
from django.utils.module_loading import import_string

from search.domain.errors import StageError
from search.interfaces import Encoder
from search.neural.encoder_names import unavailable
from search.neural.encoders_by_name import EncodersByName


def _load_encoder(name: str) -> Encoder:
    """Return the encoder of that name. Its row of `GRASP_ENCODERS` overrides the row of the tool."""
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
    if name not in settings.GRASP_ENCODERS:
        known = ", ".join(settings.GRASP_ENCODERS) or "none"
        return f"this site has no encoder {name}; GRASP_ENCODERS names: {known}"
    reason = unavailable(name)
    return f"the encoder {name} cannot be loaded: {reason}" if reason else ""
