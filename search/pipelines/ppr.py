"""Personalised PageRank over the whole graph, from what the question names, fused with text retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from search.domain.errors import StageError
from search.domain.evidence import Result
from search.domain.flow import stage
from search.domain.fusion import Fusion
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.spread import Spread
from search.domain.trace import Limit, Trace
from search.domain.trust import Trust
from search.interfaces import FuseStage, RetrieveStage


class SpreadStage(Protocol):
    """Question → nodes by the weight that flows to them from seeds."""

    def __call__(self, question: Question, limit: Limit) -> Spread:
        """Return the list, with a walk from a seed for each node."""
        ...


class ExplainSpreadStage(Protocol):
    """The fused list → results that are explained by walks."""

    def __call__(self, question: Question, fusion: Fusion, spread: Spread, limit: Limit) -> list[Result]:
        """Return the first `question.k` results with snippet, arithmetic and walk."""
        ...


@dataclass(frozen=True)
class PprStages:
    """What it is composed of."""

    pagerank: SpreadStage = stage("graph list", "PageRank", "Spreading weight over the graph")
    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching the documents", list_name="text")
    fuse: FuseStage = stage("fusion", "Fuse", "Adding up the lists")
    explain: ExplainSpreadStage = stage("explain", "Explain", "Naming the edges of each walk")


def search(question: Question, stages: PprStages, trace: Trace) -> Ranking:
    """Answer a question with what lies near the entities that it names, fused with what the text finds.

    Where the spread fails, the text answers alone.
    """
    try:
        spread = trace.step("pagerank", "graph list", stages.pagerank, question, trace.limit)
    except StageError as error:
        trace.degrade(f"{error.reason}; text only")
        spread = Spread(Ranking(), Trust.of_nothing(), name="pagerank")
    text = trace.step("retrieve", "text list", stages.retrieve, question, trace.limit)
    fusion = trace.step("fuse", "fusion", stages.fuse, question, spread, text, trace.limit)
    trace.step("explain", "explain", stages.explain, question, fusion, spread, trace.limit)
    return fusion.ranking
