"""GRASP (2026): plan a path, execute it, fuse it with text retrieval, rerank, explain; planner: docs/planning.md."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.errors import StageError
from search.domain.flow import stage
from search.domain.linking import GraphRanking, LinkedPlan
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Trace
from search.interfaces import (
    CheckStage,
    ExplainStage,
    FuseStage,
    GlossStage,
    LinkStage,
    PlanStage,
    RecoverStage,
    RerankStage,
    RescoreStage,
    RetrieveStage,
    TraverseStage,
)
from search.stages.plan.follow_up.beside import BesideChanges


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The stages of GRASP. A stage that is None is not configured and is left out."""

    plan: PlanStage = stage("plan", "Plan", "Reading the question as walks through the graph")
    link: LinkStage = stage("link", "Link", "Tying the names in the question to entities")
    traverse: TraverseStage = stage("graph", "Traverse", "Following the relations")
    recover: RecoverStage | None = stage(
        "recover", "Recover", "Changing the plan until it finds something", optional=True
    )
    rescore: RescoreStage = stage(
        "graph list", "Rescore", "Putting what the plans found into one list", list_name="graph"
    )
    gloss: GlossStage | None = stage(
        "expand", "Gloss", "Reading the question in the language of the knowledge base", optional=True
    )
    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching the documents", list_name="text")
    fuse: FuseStage = stage("fusion", "Fuse", "Adding up the lists")
    check: CheckStage = stage("check", "Check", "Holding the results against the conditions")
    rerank: RerankStage | None = stage("rerank", "Rerank", "Reading the best results again", optional=True)
    explain: ExplainStage = stage("explain", "Explain", "Drawing the paths of what is shown")


def search(question: Question, stages: Stages, trace: Trace, *, graph_share: float = 0.6) -> Ranking:
    """Return the ranking for a question; the trace records plans, paths, lists and the explained results.

    `graph_share` is the part of the remaining time, in (0, 1), that the graph's branch may take. When it takes longer,
    the text answers alone.
    """
    plans, graph = _follow_the_graph(question, stages, trace, graph_share)
    text = trace.step("retrieve", "text list", stages.retrieve, _searched(question, stages, trace), trace.limit)
    fusion = trace.step("fuse", "fusion", stages.fuse, question, graph, text, trace.limit)
    checked = trace.step("check", "check", stages.check, question, fusion, plans, graph, trace.limit)
    if stages.rerank is None:
        trace.skip("rerank", "rerank", "No reranker is configured; the order before it stands.")
    else:
        fusion = trace.step("rerank", "rerank", stages.rerank, question, fusion, plans, checked, trace.limit)
    trace.step("explain", "explain", stages.explain, question, fusion, plans, checked, trace.limit)
    return fusion.ranking


def _searched(question: Question, stages: Stages, trace: Trace) -> Question:
    """Return the question as documents are searched for it: in the base's language too, if it was asked in another."""
    if stages.gloss is None or not stages.gloss.reads(question):
        return question
    return trace.step("gloss", "expand", stages.gloss, question, [], trace.limit).asked(question)


def _follow_the_graph(
    question: Question, stages: Stages, trace: Trace, share: float
) -> tuple[list[LinkedPlan], GraphRanking]:
    """Return the linked plans and the graph's list; they take at most `share` of the remaining time.

    The steps are plan, link, traverse, recover (where nothing was found) and rescore. When one of them raises
    StageError, the graph's list is empty, the text answers alone, and the trace keeps the reason for the user.
    """
    limit = trace.limit.share(share)
    plans: list[LinkedPlan] = []
    try:
        scored = trace.step("plan", "plan", BesideChanges(stages.plan), question, limit)
        plans = trace.step("link", "link", stages.link, scored, limit)
        found = trace.step("traverse", "graph", stages.traverse, plans, limit)
        if stages.recover is not None:
            plans, found = stages.recover(plans, found, stages.link, stages.traverse, trace, limit)
        return plans, trace.step("rescore", "graph list", stages.rescore, question, plans, found, limit)
    except StageError as error:
        trace.degrade(f"{error.reason}; text only")
        return plans, GraphRanking.empty()
