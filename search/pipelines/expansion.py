"""Query expansion: text is added to the question, and the longer text is searched (PRF, HyDE, RAR, AGR).

All four as compared by KAR (Xia et al. 2025, section 5.2 and appendix A).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from search.domain.conditions import CheckedConditions
from search.domain.expansion import Expansion
from search.domain.flow import stage
from search.domain.fusion import Fusion
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Trace
from search.domain.written import Written
from search.interfaces import ExpandStage, ExplainStage, RetrieveStage


@dataclass(frozen=True)
class FeedbackStages:
    """The stages of an expansion that reads the documents of a first search: PRF and RAR."""

    first: RetrieveStage = stage("list", "First search", "Searching for the question itself")
    expand: ExpandStage = stage("expand", "Expand", "Adding text to the question")
    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching for the longer text", list_name="text")
    explain: ExplainStage = stage("explain", "Explain", "Choosing what to show of each result")


def with_feedback(question: Question, stages: FeedbackStages, trace: Trace) -> Ranking:
    """Return the documents found with an expansion by the first documents that the question itself finds."""
    first = trace.step("first", "list", stages.first, question, trace.limit)
    expansion = trace.step("expand", "expand", stages.expand, question, [first], trace.limit)
    return searched(question, expansion, stages, trace)


@dataclass(frozen=True)
class HydeStages:
    """The stages of an expansion that needs no first search: HyDE."""

    expand: ExpandStage = stage("expand", "Expand", "Writing the document of an answer")
    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching for the longer text", list_name="text")
    explain: ExplainStage = stage("explain", "Explain", "Choosing what to show of each result")


def hyde(question: Question, stages: HydeStages, trace: Trace) -> Ranking:
    """Return the documents found with an expansion by hypothetical documents."""
    expansion = trace.step("expand", "expand", stages.expand, question, [], trace.limit)
    return searched(question, expansion, stages, trace)


class AnalyseStage(Protocol):
    """Question → keywords and analysis."""

    def __call__(self, question: Question, limit: Limit) -> Written:
        """Return the keywords and the analysis of a question, or nothing."""
        ...


class DraftStage(Protocol):
    """Question and its analysis → drafts of documents."""

    def __call__(self, question: Question, analysis: Written, limit: Limit) -> Written:
        """Return drafts, or nothing."""
        ...


class GenerateStage(Protocol):
    """Question and what its drafts found → candidates."""

    def __call__(self, question: Question, drafts: Written, found: Sequence[Ranking | Fusion], limit: Limit) -> Written:
        """Return candidates, or nothing."""
        ...


class RefineStage(Protocol):
    """Question and candidates → the text that is searched."""

    def __call__(
        self, question: Question, candidates: Written, found: Sequence[Ranking | Fusion], limit: Limit
    ) -> Expansion:
        """Return the question with the refined documents."""
        ...


@dataclass(frozen=True)
class AgrStages:
    """The stages of AGR."""

    analyse: AnalyseStage = stage("other", "Analyse", "Analysing the question")
    draft: DraftStage = stage("other", "Draft", "Writing first documents")
    first: RetrieveStage = stage("list", "First search", "Searching for the drafts")
    generate: GenerateStage = stage("other", "Generate", "Writing documents beside those found")
    refine: RefineStage = stage("expand", "Refine", "Comparing the documents and writing better ones")
    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching for the longer text", list_name="text")
    explain: ExplainStage = stage("explain", "Explain", "Choosing what to show of each result")


def agr(question: Question, stages: AgrStages, trace: Trace) -> Ranking:
    """Return the documents found with an expansion that was analysed, generated and refined."""
    analysis = trace.step("analyse", "other", stages.analyse, question, trace.limit)
    drafts = trace.step("draft", "other", stages.draft, question, analysis, trace.limit)
    found = [trace.step("first", "list", stages.first, asked, trace.limit) for asked in drafts.asked(question)]
    candidates = trace.step("generate", "other", stages.generate, question, drafts, found, trace.limit)
    expansion = trace.step("refine", "expand", stages.refine, question, candidates, found, trace.limit)
    return searched(question, expansion, stages, trace)


def searched(
    question: Question, expansion: Expansion, stages: FeedbackStages | HydeStages | AgrStages, trace: Trace
) -> Ranking:
    """Return the documents found for the expanded question; results are explained by the question itself."""
    text = trace.step("retrieve", "text list", stages.retrieve, expansion.asked(question), trace.limit)
    fusion = Fusion.single("text", text)
    trace.step("explain", "explain", stages.explain, question, fusion, [], CheckedConditions(), trace.limit)
    return fusion.ranking
