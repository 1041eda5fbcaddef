"""Protocols of the stages of a pipeline, in the order in which a search runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from search.domain.conditions import CheckedConditions
from search.domain.evidence import Result
from search.domain.expansion import Expansion
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan, Reach, Traversal
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Trace


class PlanStage(Protocol):
    """Question → plans, best first."""

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan."""
        ...


class LinkStage(Protocol):
    """Plans → plans whose anchors are bound."""

    def __call__(self, plans: Sequence[ScoredPlan], limit: Limit, reach: Reach = ...) -> list[LinkedPlan]:
        """Return one linked plan per plan, in order; a plan with an anchor without bindings is not bound."""
        ...


class TraverseStage(Protocol):
    """Linked plans → the candidates that the graph finds for each."""

    def __call__(self, plans: Sequence[LinkedPlan], limit: Limit) -> list[Traversal]:
        """Return one traversal for each plan that has anchors or runs over a type, in the order of the plans."""
        ...


class RecoverStage(Protocol):
    """Plans that found nothing → the same plans, one of them changed until it finds something."""

    def __call__(
        self,
        plans: list[LinkedPlan],
        found: list[Traversal],
        link: LinkStage,
        traverse: TraverseStage,
        trace: Trace,
        limit: Limit,
    ) -> tuple[list[LinkedPlan], list[Traversal]]:
        """Return plans and traversals, unchanged or with one of each replaced; each attempt is a step of the trace.

        Raises DeadlineExceeded if the time for attempts ran out.
        """
        ...


class RescoreStage(Protocol):
    """Traversals → the graph's list."""

    def __call__(
        self, question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
    ) -> GraphRanking:
        """Return the merged candidates of the plans; if there is a residual text, its cosine is added to the scores."""
        ...


class RetrieveStage(Protocol):
    """Question → the list of text retrieval, or several lists fused."""

    def __call__(self, question: Question, limit: Limit) -> Ranking | Fusion:
        """Return the best documents, best first, at a depth of 100 or more."""
        ...


class ExpandStage(Protocol):
    """Question, and what was found for it → the text that is searched in its place."""

    def __call__(self, question: Question, found: Sequence[Ranking | Fusion], limit: Limit) -> Expansion:
        """Return the question with further text. `found` are the lists of a first retrieval; there may be none."""
        ...


class GlossStage(ExpandStage, Protocol):
    """Question in another language → the text that is searched in its place."""

    def reads(self, question: Question) -> bool:
        """Whether the question is in another language than the base's, which a dictionary reads."""
        ...


class FuseStage(Protocol):
    """The graph's list and the text's list → one list."""

    def __call__(self, question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
        """Return the fusion by weighted reciprocal ranks; equal sums are ordered by the question's cosine, then key."""
        ...


class MergeStage(Protocol):
    """Several lists of text retrieval → one list."""

    def __call__(self, question: Question, rankings: Mapping[str, Ranking | Fusion], limit: Limit) -> Fusion:
        """Return the fusion with equal weights; equal sums are ordered by the question's cosine, then by key."""
        ...


class CheckStage(Protocol):
    """The fused list → which conditions of its plan each of the first candidates meets."""

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], graph: GraphRanking, limit: Limit
    ) -> CheckedConditions:
        """Return the conditions of the first candidates, as checked against their plans.

        It checks 100 candidates, or `question.k` if that is more.
        """
        ...


class RerankStage(Protocol):
    """The fused list → the same list in a better order."""

    def __call__(
        self,
        question: Question,
        fusion: Fusion,
        plans: Sequence[LinkedPlan],
        checked: CheckedConditions,
        limit: Limit,
    ) -> Fusion:
        """Return the fused list, reordered by the reranker's list; scores of earlier stages are kept.

        `plans` and `checked` tell how each candidate was found, and which conditions it meets.
        """
        ...


class ExplainStage(Protocol):
    """The final list → explained results."""

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions, limit: Limit
    ) -> list[Result]:
        """Return the first `question.k` results, each with snippet, shares of the lists and evidence."""
        ...
