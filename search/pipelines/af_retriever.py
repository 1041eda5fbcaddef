"""AF-Retriever (2026): triplets written as Cypher are grounded with growing candidates, filled up, and judged.

Each comment names the step of section 3.2, each call is a line of algorithm 1.
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
class AutofocusStages:
    """The stages of AF-Retriever. `plan` is used only where no language model writes the triplets."""

    target: TargetStage = stage("other", "Target type", "Finding out what type the answers have")
    plan: PlanStage = stage("other", "Plan", "Listing plans without a language model")
    triplets: TripletStage = stage("other", "Triplets", "Writing the question as triplets")
    candidates: CandidateStage = stage("other", "Candidates", "Looking up the names")
    ground: GroundStage = stage("other", "Ground", "Following the triplets")
    rank: RankStage = stage("graph list", "Rank", "Ordering what the graph found", list_name="grounded")
    fill: FillStage = stage("text list", "Fill up", "Searching the documents", list_name="filled")
    join: JoinStage = stage("fusion", "Join", "Putting one list after the other")
    judge: JudgeStage | None = stage("rerank", "Judge", "Reading the best results again", optional=True)
    explain: ExplainGroundedStage = stage("explain", "Explain", "Drawing the paths of what is shown")


def search(question: Question, stages: AutofocusStages, trace: Trace) -> Ranking:
    """Return the ranking of a question (algorithm 1)."""
    labels, query = _read(question, stages, trace)  # steps 1 to 3
    candidates = trace.step("candidates", "other", stages.candidates, query, trace.limit)  # step 4
    grounding = trace.step("ground", "other", stages.ground, question, query, candidates, labels, trace.limit)  # 5
    grounded = trace.step("rank", "graph list", stages.rank, question, grounding, trace.limit)  # step 6
    filled = trace.step(
        "fill", "text list", stages.fill, question, labels, grounding, grounded.ranking, trace.limit
    )  # step 7
    joined = trace.step("join", "fusion", stages.join, question, grounded.ranking, filled, trace.limit)
    if stages.judge is None:
        trace.skip("judge", "rerank", "No judge is configured; the order before stays.")
    else:
        joined = trace.step("judge", "rerank", stages.judge, question, joined, grounding, trace.limit)  # step 8
    trace.step("explain", "explain", stages.explain, question, joined, grounding, trace.limit)
    return joined.ranking


def _read(question: Question, stages: AutofocusStages, trace: Trace) -> tuple[tuple[str, ...], TripletQuery]:
    """Return the types of the answers and the triplets: steps 1 to 3, or a plan if it is given or no model answers."""
    if question.plan is None:
        try:
            target = trace.step("target", "other", stages.target, question, trace.limit)
            written = trace.step("triplets", "other", stages.triplets, question, target.labels, trace.limit)
            return target.labels, written.query
        except NoModel as error:
            trace.degrade(f"{error.reason}; {INSTEAD}")
    best = trace.step("plan", "other", stages.plan, question, trace.limit)[0].plan
    written = trace.step("triplets", "other", stages.triplets.of_plan, best)
    return best.target.labels, written.query
