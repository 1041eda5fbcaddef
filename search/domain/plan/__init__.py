"""The plan of a question: its parts, its parser with all faults at once, its normal form and its JSON schema."""

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
