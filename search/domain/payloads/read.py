"""Reads the recorded output of a step into the type that belongs to its role and its version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from search.domain.payloads.expansion import ExpandedPayload
from search.domain.payloads.follow_up import FollowUpRead
from search.domain.payloads.lists import Fused, GraphListed, Listed
from search.domain.payloads.plans import Links, Plans, Recovery, Traversals
from search.domain.payloads.results import Checked, Results
from search.domain.trace import VERSION

Payload = (
    Plans
    | Links
    | Traversals
    | Recovery
    | GraphListed
    | Listed
    | Fused
    | Checked
    | Results
    | ExpandedPayload
    | FollowUpRead
)


def _listed(data: Any) -> Listed | Fused:
    """Return a list, which may be a fusion of other lists."""
    return Fused.from_json(data) if "rankings" in data else Listed.from_json(data)


def _expanded(data: Any) -> ExpandedPayload | None:
    """Return an expansion; None for the output of a step that expands something else than the searched text."""
    return ExpandedPayload.from_json(data) if isinstance(data, Mapping) and "parts" in data else None


_TYPES: Mapping[str, Callable[[Any], Payload | None]] = {
    "plan": Plans.from_json,
    "link": Links.from_json,
    "graph": Traversals.from_json,
    "recover": Recovery.from_json,
    "graph list": GraphListed.from_json,
    "text list": _listed,
    "list": _listed,
    "fusion": Fused.from_json,
    "check": Checked.from_json,
    "rerank": Fused.from_json,
    "explain": Results.from_json,
    "expand": _expanded,
    "follow up": FollowUpRead.from_json,
}


class UnreadablePayload(ValueError):
    """The output of a step does not have the form that its role requires."""


def read_payload(role: str, output: Any, version: int = VERSION) -> Payload | None:
    """Return the recorded output of a step; None if it has no output, or if outputs of its role have no type.

    Raises UnreadablePayload for an output that does not have the form of its role, and for an unknown version. Outputs
    of version 1 may lack keys that were added later; they get the values that were in effect at that time.
    """
    if version not in (1, VERSION):
        raise UnreadablePayload(f"The step has version {version}; this code reads versions 1 and {VERSION}.")
    reader = _TYPES.get(role)
    if output is None or reader is None:
        return None
    try:
        return reader(_completed(role, output) if version == 1 else output)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise UnreadablePayload(f"The output of a step of the role {role!r} cannot be read: it {what}.") from error


def _completed(role: str, output: Any) -> Any:
    """Return an output of version 1 with defaults for the keys that it lacks."""
    if role in ("fusion", "rerank"):
        return {"leads": False, "bucket": "", "risk": "", "rankings": {}, "trust": {}} | output
    if role == "graph list":
        count = len(output["ids"])
        return {"plans": [0] * count, "shares": [[]] * count, "probability": 0.0} | output
    return output
