"""Types for the recorded outputs of steps: code that reads a trace uses these types and no dictionaries.

A stage returns objects of `search.domain`. The result of their `to_json` is recorded with ids in place of keys, because
a key has no meaning after its snapshot is deleted. The types here read the recorded JSON and write it again unchanged.
"""

from search.domain.payloads.expansion import ExpandedPayload
from search.domain.payloads.follow_up import FollowUpRead
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
from search.domain.payloads.results import Checked, Results

__all__ = [
    "BoundAnchor",
    "BoundNode",
    "Checked",
    "ExpandedPayload",
    "FollowUpRead",
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
