"""What the steps of a search have recorded, read back into types: readers of a trace know these and no dictionary.

A stage returns objects of `search.domain`; their `to_json` is what is recorded, with ids in place of keys, for a key
means nothing once the snapshot is gone. The types here read that back and write it again unchanged.
"""

from search.domain.payloads.lists import Fused, GraphListed, Listed
from search.domain.payloads.plans import (
    BoundAnchor,
    BoundNode,
    Links,
    PlanEntry,
    Plans,
    Recovery,
    Traversals,
    Traversed,
)
from search.domain.payloads.read import Payload, UnreadablePayload, read_payload
from search.domain.payloads.results import Results

__all__ = [
    "BoundAnchor",
    "BoundNode",
    "Fused",
    "GraphListed",
    "Links",
    "Listed",
    "Payload",
    "PlanEntry",
    "Plans",
    "Recovery",
    "Results",
    "Traversals",
    "Traversed",
    "UnreadablePayload",
    "read_payload",
]
