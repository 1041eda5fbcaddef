"""The stages at which a search can lose an expected answer, with their words on pages."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class _Wording(NamedTuple):
    heading: str
    sentence: str


class LostStage(StrEnum):
    """The first stage that lost an expected answer. The values are the names in `report.json` and never change.

    The members are in the order of the flow: what the data lacks, then the stages of the graph's branch, then the
    lists, their fusion and the reranker. `FAILED` and `UNDECIDED` say that the stage is not known.
    """

    FAILED = "failed"
    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"
    PLANNED = "planned"
    TYPED = "typed"
    LINKED = "linked"
    REACHED = "reached"
    CUT = "cut"
    RETRIEVED = "retrieved"
    RANKED = "ranked"
    FUSED = "fused"
    RERANKED = "reranked"
    UNDECIDED = "undecided"

    @property
    def heading(self) -> str:
        """The stage as a heading or a filter of a page."""
        return _WORDINGS[self].heading

    @property
    def sentence(self) -> str:
        """What happened to the answer, in one sentence."""
        return _WORDINGS[self].sentence


def in_flow(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts by stage in the order of the flow, without those that are zero."""
    return {stage.value: counts[stage] for stage in LostStage if counts.get(stage)}


_WORDINGS: dict[LostStage, _Wording] = {
    LostStage.FAILED: _Wording("Search failed", "The search ended with an error and ranked nothing."),
    LostStage.UNKNOWN: _Wording("Not in the knowledge base", "The searched release has no node with this id."),
    LostStage.UNREACHABLE: _Wording(
        "No way through the graph", "No plan that starts from the names in the question leads to this answer."
    ),
    LostStage.PLANNED: _Wording("No plan", "No plan was executed in the graph."),
    LostStage.TYPED: _Wording("Wrong answer type", "The plan asks for nodes of another type."),
    LostStage.LINKED: _Wording("Wrong entity", "The plan starts from another entity than the one that is meant."),
    LostStage.REACHED: _Wording(
        "Wrong path", "The plan starts from the right entity, but its hops do not lead to this answer."
    ),
    LostStage.CUT: _Wording(
        "Candidates cut", "The plan leads to this answer, but a limit cut the candidates before it was listed."
    ),
    LostStage.RETRIEVED: _Wording("Not retrieved", "No list of the pipeline contains this answer."),
    LostStage.RANKED: _Wording("Ranked too low", "A list contains this answer, but too many others stand before it."),
    LostStage.FUSED: _Wording("Lost in the fusion", "A list had this answer at the top; the fused list has not."),
    LostStage.RERANKED: _Wording(
        "Lost by the reranker", "The fused list had this answer at the top; the reranker moved it down."
    ),
    LostStage.UNDECIDED: _Wording(
        "Not decided", "The recorded lists do not show it, and the search could not be repeated."
    ),
}
