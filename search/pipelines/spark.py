"""SPARK (SAGE, section 2.2 A): one call writes the retrieval plan; where it finds nothing, words and vectors answer."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.errors import StageError
from search.domain.flow import stage
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Trace
from search.interfaces import (
    CheckStage,
    ExplainStage,
    LinkStage,
    PlanStage,
    RescoreStage,
    RetrieveStage,
    TraverseStage,
)


@dataclass(frozen=True)
class SparkStages:
    """The stages of SPARK."""

    plan: PlanStage = stage("plan", "Plan", "Writing the retrieval plan")
    link: LinkStage = stage("link", "Candidates", "Searching for the entities of the plan")
    traverse: TraverseStage = stage("graph", "Traverse", "Following the relations of the plan")
    rescore: RescoreStage = stage("graph list", "Rank", "Ranking what the plan found", list_name="graph")
    retrieve: RetrieveStage = stage("text list", "Fall back", "Searching by words and vectors", list_name="text")
    check: CheckStage = stage("check", "Check", "Holding the results against the plan")
    explain: ExplainStage = stage("explain", "Explain", "Drawing the paths of what is shown")


def search(question: Question, stages: SparkStages, trace: Trace, *, graph_share: float = 0.6) -> Ranking:
    """Return the nodes that the plan finds, or those that words and vectors find if it finds none.

    `graph_share` is the part of the remaining time, in (0, 1), that planning and the graph may take.
    """
    plans, graph = _planned(question, stages, trace, graph_share)
    if len(graph.ranking):
        trace.skip("retrieve", "text list", "The plan found entities, so that words and vectors are not needed.")
        fusion = Fusion.single(graph.name, graph.ranking)
    else:
        fusion = Fusion.single("text", trace.step("retrieve", "text list", stages.retrieve, question, trace.limit))
    checked = trace.step("check", "check", stages.check, question, fusion, plans, graph, trace.limit)
    trace.step("explain", "explain", stages.explain, question, fusion, plans, checked, trace.limit)
    return fusion.ranking


def _planned(
    question: Question, stages: SparkStages, trace: Trace, share: float
) -> tuple[list[LinkedPlan], GraphRanking]:
    """Return the plan and the nodes that it finds; none where a step fails, and the trace keeps the reason."""
    limit = trace.limit.share(share)
    plans: list[LinkedPlan] = []
    try:
        scored = trace.step("plan", "plan", stages.plan, question, limit)
        plans = trace.step("link", "link", stages.link, scored, limit)
        found = trace.step("traverse", "graph", stages.traverse, plans, limit)
        return plans, trace.step("rescore", "graph list", stages.rescore, question, plans, found, limit)
    except StageError as error:
        trace.degrade(f"{error.reason}; words and vectors instead")
        return plans, GraphRanking.empty()
