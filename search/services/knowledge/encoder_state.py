"""encoder_state: active releases whose encoder this site does not have, without loading any model."""

from __future__ import annotations

from search.checks import check_encoders


def missing_encoders() -> list[str]:
    """Return a sentence for each active release that cannot be searched because its encoder is not there."""
    return [f"{fault.msg} {fault.hint}" for fault in check_encoders(databases=["default"])]
