"""The plan of a question: its parts, its reading with every fault at once, its normal form and JSON schema."""

from search.domain.plan.parts import (
    MAX_ANCHORS,
    MAX_HOPS,
    RISKS,
    Anchor,
    Filter,
    Hop,
    MatchMode,
    Operator,
    PlanSource,
    RetrievalMode,
    Risk,
    Target,
)
from search.domain.plan.plan import Plan, ScoredPlan

__all__ = [
    "MAX_ANCHORS",
    "MAX_HOPS",
    "RISKS",
    "Anchor",
    "Filter",
    "Hop",
    "MatchMode",
    "Operator",
    "Plan",
    "PlanSource",
    "RetrievalMode",
    "Risk",
    "ScoredPlan",
    "Target",
]
