"""Where the expected answers of a search were lost (docs/attribution.md)."""

from training.evaluation.lost.attribution import (
    TOP,
    AnswerFate,
    Attribution,
    FoundNode,
    ListCoverage,
    Loss,
    PossiblePlan,
)
from training.evaluation.lost.describe import described
from training.evaluation.lost.funnel import Funnel
from training.evaluation.lost.stages import LostStage, in_flow

__all__ = [
    "TOP", "AnswerFate", "Attribution", "FoundNode", "Funnel", "ListCoverage", "Loss", "LostStage", "PossiblePlan",
    "described", "in_flow",
]  # fmt: skip
