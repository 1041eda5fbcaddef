"""Personalised PageRank over the whole graph, from the entities that the question names, fused with text retrieval."""

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
    """Question → nodes, ranked by the weight that flows to them from the seeds."""

    def __call__(self, question: Question, limit: Limit) -> Spread:
        """Return the ranked nodes, each with a walk from a seed to it."""
        ...


class ExplainSpreadStage(Protocol):
    """Fused list → results, explained by walks."""

    def __call__(self, question: Question, fusion: Fusion, spread: Spread, limit: Limit) -> list[Result]:
        """Return the first `question.k` results, each with its snippet, the arithmetic of its score and its walk."""
        ...


@dataclass(frozen=True)
class PprStages:
    """The stages of the PageRank pipeline."""

    pagerank: SpreadStage = stage("graph list", "PageRank", "Spreading weight over the graph")
    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching the documents", list_name="text")
    fuse: FuseStage = stage("fusion", "Fuse", "Adding up the lists")
    explain: ExplainSpreadStage = stage("explain", "Explain", "Naming the relations of each walk")


def search(question: Question, stages: PprStages, trace: Trace) -> Ranking:
    """Return the fused ranking of nodes near the entities that the question names and of documents found by text.

    When the `pagerank` stage raises StageError, the text answers alone, and the trace keeps the reason.
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
