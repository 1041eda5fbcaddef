"""SAGE (section 2.2): seeds from SPARK or from words and vectors, their neighbours, and both in one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from search.domain.errors import StageError
from search.domain.flow import stage
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan
from search.domain.neighbours import ExplainWithPaths, Neighbours
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Trace
from search.interfaces import (
    CheckStage,
    ExplainStage,
    LinkStage,
    PlanStage,
    RescoreStage,
    RetrieveStage,
    TraverseStage,
)


class ExpandEntitiesStage(Protocol):
    """Seeds → their neighbours, ranked."""

    def __call__(self, question: Question, seeds: Ranking, plans: Sequence[LinkedPlan], limit: Limit) -> Neighbours:
        """Return the neighbours to add; `plans` are those that found the seeds, empty if text found them."""
        ...


class UniteStage(Protocol):
    """Seeds and neighbours → one list."""

    def __call__(self, question: Question, listed: Ranking, neighbours: Neighbours, limit: Limit) -> Fusion:
        """Return the seeds, then the neighbours, then the rest of the list."""
        ...


@dataclass(frozen=True, kw_only=True)
class SageStages:
    """The stages of SAGE. Without a plan stage the seeds come from words and vectors, as for document graphs."""

    plan: PlanStage | None = stage("plan", "Plan", "Writing the retrieval plan", optional=True)
    link: LinkStage = stage("link", "Candidates", "Searching for the entities of the plan")
    traverse: TraverseStage = stage("graph", "Traverse", "Following the relations of the plan")
    rescore: RescoreStage = stage("graph list", "Rank", "Ranking what the plan found", list_name="graph")
    retrieve: RetrieveStage = stage("text list", "Fall back", "Searching by words and vectors", list_name="text")
    expand: ExpandEntitiesStage = stage(
        "list", "Expand", "Collecting neighbours of the first results", list_name="neighbours"
    )
    unite: UniteStage = stage("fusion", "Unite", "Putting neighbours behind the seeds")
    check: CheckStage = stage("check", "Check", "Holding the results against the plan")
    explain: ExplainStage = stage("explain", "Explain", "Drawing the paths of what is shown")


def search(question: Question, stages: SageStages, trace: Trace, *, graph_share: float = 0.6) -> Ranking:
    """Return the seeds united with their best neighbours.

    `graph_share` is the part of the remaining time, in (0, 1), that planning and the graph may take. When the
    expansion fails, the seeds stand alone, and the trace keeps the reason.
    """
    plans, graph = _planned(question, stages, trace, graph_share)
    if len(graph.ranking):
        trace.skip("retrieve", "text list", "The plan found entities, so that words and vectors are not needed.")
        seeds, finders = graph.ranking, plans
    else:
        seeds, finders = trace.step("retrieve", "text list", stages.retrieve, question, trace.limit).ranking, []
    try:
        near = trace.step("expand", "list", stages.expand, question, seeds, finders, trace.limit)
    except StageError as error:
        trace.degrade(f"{error.reason}; not expanded")
        near = Neighbours.nothing(error.reason)
    fusion = trace.step("unite", "fusion", stages.unite, question, seeds, near, trace.limit)
    checked = trace.step("check", "check", stages.check, question, fusion, plans, graph, trace.limit)
    explain = ExplainWithPaths(stages.explain, near.paths)
    trace.step("explain", "explain", explain, question, fusion, plans, checked, trace.limit)
    return fusion.ranking


def _planned(
    question: Question, stages: SageStages, trace: Trace, share: float
) -> tuple[list[LinkedPlan], GraphRanking]:
    """Return the plan and the nodes that it finds; none where a step fails, and the trace keeps the reason."""
    limit = trace.limit.share(share)
    plans: list[LinkedPlan] = []
    if stages.plan is None:
        return plans, GraphRanking.empty()
    try:
        scored = trace.step("plan", "plan", stages.plan, question, limit)
        plans = trace.step("link", "link", stages.link, scored, limit)
        found = trace.step("traverse", "graph", stages.traverse, plans, limit)
        return plans, trace.step("rescore", "graph list", stages.rescore, question, plans, found, limit)
    except StageError as error:
        trace.degrade(f"{error.reason}; words and vectors instead")
        return plans, GraphRanking.empty()
