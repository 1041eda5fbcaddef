"""The baselines: BM25 alone, vectors alone, and the plain fusion of both."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.conditions import CheckedConditions
from search.domain.flow import stage
from search.domain.fusion import Fusion
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Trace
from search.interfaces import ExplainStage, MergeStage, RetrieveStage


@dataclass(frozen=True)
class SingleStages:
    """The stages of a single baseline: one retriever, and the stage that explains its list."""

    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching the documents", list_name="text")
    explain: ExplainStage = stage("explain", "Explain", "Choosing what to show of each result")


def single(question: Question, stages: SingleStages, trace: Trace) -> Ranking:
    """Return the list of one retriever, unchanged, as the ranking."""
    text = trace.step("retrieve", "text list", stages.retrieve, question, trace.limit)
    fusion = Fusion.single("text", text)
    trace.step("explain", "explain", stages.explain, question, fusion, [], CheckedConditions(), trace.limit)
    return fusion.ranking


@dataclass(frozen=True)
class HybridStages:
    """The stages of the hybrid baseline: two retrievers, their fusion, and the stage that explains the fused list."""

    bm25: RetrieveStage = stage("text list", "Words", "Searching for the words of the question")
    vss: RetrieveStage = stage("text list", "Vectors", "Searching by meaning")
    fuse: MergeStage = stage("fusion", "Fuse", "Adding up the lists")
    explain: ExplainStage = stage("explain", "Explain", "Choosing what to show of each result")


def hybrid(question: Question, stages: HybridStages, trace: Trace) -> Ranking:
    """Return the reciprocal rank fusion of the BM25 list and the vector list as the ranking."""
    words = trace.step("bm25", "text list", stages.bm25, question, trace.limit)
    vectors = trace.step("vss", "text list", stages.vss, question, trace.limit)
    fusion = trace.step("fuse", "fusion", stages.fuse, question, {"bm25": words, "vss": vectors}, trace.limit)
    trace.step("explain", "explain", stages.explain, question, fusion, [], CheckedConditions(), trace.limit)
    return fusion.ranking
