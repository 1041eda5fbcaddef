"""FocusedRetriever (2025), the predecessor of AF-Retriever: the same parts in another order and with other defaults.

The query is written before the type of the answers is asked for. Only the documents that fill the list up have to be of
that type. Each call is a line of algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.flow import stage
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Trace
from search.domain.triplets import TripletQuery
from search.interfaces import PlanStage
from search.interfaces.triplets import (
    CandidateStage,
    ExplainGroundedStage,
    FillStage,
    GroundStage,
    JoinStage,
    JudgeStage,
    NoModel,
    RankStage,
    TargetStage,
    TripletStage,
)

INSTEAD = "the best plan that can be listed without a model is read as triplets"


@dataclass(frozen=True, kw_only=True)
class FocusedStages:
    """The stages of FocusedRetriever. `plan` is used only where no language model writes the triplets."""

    plan: PlanStage = stage("other", "Plan", "Listing plans without a language model")
    triplets: TripletStage = stage("other", "Triplets", "Writing the question as triplets")
    candidates: CandidateStage = stage("other", "Candidates", "Looking up the names")
    ground: GroundStage = stage("other", "Ground", "Following the triplets")
    rank: RankStage = stage("graph list", "Rank", "Ordering what the graph found", list_name="grounded")
    target: TargetStage = stage("other", "Target type", "Finding out what type the answers have")
    fill: FillStage = stage("text list", "Fill up", "Searching the documents", list_name="filled")
    join: JoinStage = stage("fusion", "Join", "Putting one list after the other")
    judge: JudgeStage | None = stage("rerank", "Judge", "Reading the best results again", optional=True)
    explain: ExplainGroundedStage = stage("explain", "Explain", "Drawing the paths of what is shown")


def search(question: Question, stages: FocusedStages, trace: Trace) -> Ranking:
    """Return the ranking of a question (algorithm 1)."""
    query, planned = _read(question, stages, trace)  # lines 1 and 2
    candidates = trace.step("candidates", "other", stages.candidates, query, trace.limit)  # line 3
    grounding = trace.step("ground", "other", stages.ground, question, query, candidates, planned, trace.limit)  # 4-9
    grounded = trace.step("rank", "graph list", stages.rank, question, grounding, trace.limit)  # line 10
    labels = planned or _types(question, stages, trace)  # line 11
    filled = trace.step(
        "fill", "text list", stages.fill, question, labels, grounding, grounded.ranking, trace.limit
    )  # line 12
    joined = trace.step("join", "fusion", stages.join, question, grounded.ranking, filled, trace.limit)  # line 13
    if stages.judge is None:
        trace.skip("judge", "rerank", "No judge is configured; the order before stays.")
    else:
        joined = trace.step("judge", "rerank", stages.judge, question, joined, grounding, trace.limit)  # line 14
    trace.step("explain", "explain", stages.explain, question, joined, grounding, trace.limit)
    return joined.ranking


def _read(question: Question, stages: FocusedStages, trace: Trace) -> tuple[TripletQuery, tuple[str, ...]]:
    """Return the triplets, and the types of the answers if they are those of a plan (given, or listed)."""
    if question.plan is None:
        try:
            return trace.step("triplets", "other", stages.triplets, question, (), trace.limit).query, ()
        except NoModel as error:
            trace.degrade(f"{error.reason}; {INSTEAD}")
    best = trace.step("plan", "other", stages.plan, question, trace.limit)[0].plan
    return trace.step("triplets", "other", stages.triplets.of_plan, best).query, best.target.labels


def _types(question: Question, stages: FocusedStages, trace: Trace) -> tuple[str, ...]:
    """Return the predicted type of the answers; none, so that every type fits, if no model answers."""
    try:
        return trace.step("target", "other", stages.target, question, trace.limit).labels
    except NoModel as error:
        trace.degrade(f"{error.reason}; documents of every type fill the list up")
        return ()
