"""The pipeline itself: what happens when the graph cannot help. Its stages have tests of their own."""

from dataclasses import replace

import pytest

from search.domain.conditions import CheckedConditions
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Traversal
from search.domain.plan import Anchor, Plan, ScoredPlan
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit, Trace
from search.domain.trust import Trust
from search.pipelines import baselines, grasp
from search.stages.recover import Recover
from tests.rankings import ranked, table

PLAN = Plan(anchors=(Anchor("a", "Ada"),))
GRAPH = ranked({1: 1.0})
TEXT = ranked({2: 0.9, 1: 0.5})


def fuse(question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
    return Fusion.of({"graph": graph.ranking, "text": text}, {"graph": 2.0, "text": 1.0}, 5, table({}))


STAGES = grasp.Stages(
    plan=lambda question, limit: [ScoredPlan(PLAN, "schema", 1.0)],
    link=lambda plans, limit: [LinkedPlan(PLAN, (Binding("a", Node(0, "a", "t", "Ada"), 1.0),))],
    traverse=lambda plans, limit: [Traversal(0, "test", (Candidate(1, 1.0),))],
    rescore=lambda question, plans, found, limit: GraphRanking(GRAPH, Trust(1, "normal", 0.5), {0: {1: 1.0}}),
    retrieve=lambda question, limit: TEXT,
    fuse=fuse,
    check=lambda question, fusion, plans, graph, limit: CheckedConditions(),
    explain=lambda question, fusion, plans, checked, limit: [],
)


def raising(error: Exception):
    def stage(*args: object) -> object:
        raise error

    return stage


def test_the_steps_stand_in_the_order_of_the_method() -> None:
    trace = Trace()
    ranking = grasp.search(Question("who?"), STAGES, trace)
    names = [step.name for step in trace.steps]
    assert names == ["plan", "link", "traverse", "rescore", "retrieve", "fuse", "check", "rerank", "explain"]
    # 2/(5+1) + 1/(5+2) for node 1 against 1/(5+1) for node 2.
    assert ranking.keys == (1, 2)
    assert ranking.scores[1] == pytest.approx(2 / 6 + 1 / 7)


def test_a_reranker_that_is_not_configured_is_shown_as_skipped() -> None:
    trace = Trace()
    grasp.search(Question("who?"), STAGES, trace)
    assert [(s.status, s.detail) for s in trace.steps if s.name == "rerank"] == [
        ("skipped", "No reranker is configured; the order before it stands.")
    ]


def test_a_reranker_gives_the_final_order() -> None:
    def rerank(question: Question, fusion: Fusion, plans: object, checked: object, limit: Limit) -> Fusion:
        return replace(fusion, ranking=ranked({2: 2.0, 1: 1.0}))

    assert grasp.search(Question("who?"), replace(STAGES, rerank=rerank), Trace()).keys == (2, 1)


@pytest.mark.parametrize("stage", ["plan", "link", "traverse", "rescore"])
def test_when_a_stage_of_the_graph_fails_the_text_answers_and_the_trace_says_why(stage: str) -> None:
    trace = Trace()
    broken = replace(STAGES, **{stage: raising(StageError("graph", "the engine is down"))})
    assert grasp.search(Question("who?"), broken, trace).keys == (2, 1)
    degraded = [(s.name, s.detail) for s in trace.steps if s.status == "degraded"]
    assert degraded == [(stage, "the engine is down; text only")]


def test_when_the_graph_takes_too_long_the_text_still_answers() -> None:
    broken = replace(STAGES, traverse=raising(DeadlineExceeded("traverse")))
    assert grasp.search(Question("who?"), broken, Trace()).keys == (2, 1)


def test_when_text_retrieval_fails_the_search_fails() -> None:
    with pytest.raises(StageError):
        grasp.search(Question("who?"), replace(STAGES, retrieve=raising(StageError("retrieve", "gone"))), Trace())


def test_a_time_limit_that_has_run_out_already_is_the_first_stages_failure() -> None:
    trace = Trace(Limit.seconds(0))
    with pytest.raises(DeadlineExceeded):
        grasp.search(Question("who?"), STAGES, trace)
    assert [(step.name, step.status) for step in trace.steps] == [("plan", "degraded"), ("retrieve", "failed")]


def test_a_cancelled_search_stops_before_its_next_stage() -> None:
    trace = Trace(Limit(cancelled=lambda: True))
    with pytest.raises(SearchCancelled):
        grasp.search(Question("who?"), STAGES, trace)
    assert trace.steps == []


def test_a_baseline_passes_its_list_on_and_its_contribution_is_the_score() -> None:
    trace = Trace()
    stages = baselines.SingleStages(retrieve=STAGES.retrieve, explain=STAGES.explain)
    assert baselines.single(Question("who?"), stages, trace).keys == (2, 1)
    assert Fusion.single("text", TEXT).contribution("text", 2) == 0.9


def test_recovery_stands_between_traversing_and_rescoring_and_its_plans_are_explained() -> None:
    changed = LinkedPlan(Plan(anchors=(Anchor("a", "Ben"),)), ())
    rescored: list[object] = []

    def recover(plans, found, link, traverse, trace: Trace, limit: Limit):
        trace.step("recover", "recover", lambda: "tried")
        return [changed], [Traversal(0, "test", (Candidate(7, 1.0),))]

    def rescore(question, plans, found, limit):
        rescored.append((plans, found[0].candidates[0].key))
        return GraphRanking.empty()

    trace = Trace()
    grasp.search(Question("who?"), replace(STAGES, recover=recover, rescore=rescore), trace)
    assert [step.name for step in trace.steps][:5] == ["plan", "link", "traverse", "recover", "rescore"]
    assert rescored == [([changed], 7)]


def test_when_recovery_runs_out_of_time_the_text_answers_and_it_is_said() -> None:
    plan = Plan((Anchor("a", "Ada", "t", ids=("a",)), Anchor("b", "Ben", "t", ids=("b",))))
    nodes = [Node(0, "a", "t", "Ada"), Node(1, "b", "t", "Ben")]
    linked = LinkedPlan(plan, (Binding("a", nodes[0], 1.0), Binding("b", nodes[1], 1.0)))
    executed: list[LinkedPlan] = []

    def traverse(plans: list[LinkedPlan], limit: Limit) -> list[Traversal]:
        executed.extend(plans)
        while plans[0] is not linked and limit.remaining():
            """The first attempt takes all the time there is."""
        limit.check("traverse")
        return [Traversal(0, "test", ())]

    stages = replace(STAGES, link=lambda plans, limit: [linked], traverse=traverse, recover=Recover(share=0.1))
    trace = Trace(Limit.seconds(2))
    assert grasp.search(Question("who?"), stages, trace).keys == (2, 1)
    assert [(s.name, s.detail) for s in trace.steps if s.status == "degraded"] == [
        ("recover", "nothing was found, and the time for further attempts ran out; text only")
    ]
    assert len(executed) == 2
    # A tenth of six tenths of two seconds, on a machine that does something else too.
    assert trace.steps[3].seconds < 0.9


def test_the_graph_may_take_as_much_of_the_time_as_the_site_says() -> None:
    left: list[float] = []

    def plan(question: Question, limit: Limit) -> list[ScoredPlan]:
        left.append(limit.remaining())
        return STAGES.plan(question, limit)

    for share in (0.2, 0.9):
        grasp.search(Question("who?"), replace(STAGES, plan=plan), Trace(Limit.seconds(1000)), graph_share=share)
    assert left == pytest.approx([200, 900], abs=20)
