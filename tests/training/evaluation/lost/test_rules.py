"""Each stage, and each doubt between two of them, from facts written by hand. `g` is the answer, of type film."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from training.evaluation.lost import LostStage
from training.evaluation.lost.facts import ExecutedPlan, GraphFacts, Held, ListStep, LostWay, LostWays, RunFacts
from training.evaluation.lost.rules import closest, first_loss

K = 2
PLAN = Plan((Anchor("a", "Ada", "person"),), (Hop("a", "made", "T", "film"),), Target("T", ("film",)))
BEST = ExecutedPlan(0, PLAN, 0.8, (frozenset({"ada"}),), Held("plan 1", {}, 4))
WAY = LostWay((frozenset({"ada"}),), ("“Ada” (person)",), frozenset({"g"}), 1.0, 1, {"g": 1})
NOWHERE = Held("fuse", {}, 9)


def lists(graph: Held = Held("rescore", {}, 4), text: Held = Held("retrieve", {}, 9)) -> tuple[ListStep, ...]:  # noqa: B008
    """Return the steps of a search with a graph's list and a text's list, whose fusion does not contain the answer."""
    inputs = (replace(graph, name="graph"), replace(text, name="text"))
    return (
        ListStep("rescore", "graph list", graph),
        ListStep("retrieve", "text list", text),
        ListStep("fuse", "fusion", NOWHERE, inputs),
    )


ONE_WAY = LostWays((WAY,))


def run(*plans: ExecutedPlan, ways: LostWays = ONE_WAY, steps: tuple[ListStep, ...] = (), **more: object) -> RunFacts:
    graph = GraphFacts(True, plans, next((plan.index for plan in plans if plan.runs), None), {}, ways)
    facts = RunFacts(("g",), {"g": "film"}, NOWHERE, steps or lists(), graph, frozenset({"film", "person"}))
    return replace(facts, **more)  # type: ignore[arg-type]


def named(facts: RunFacts) -> LostStage | None:
    loss = first_loss(facts, "g", K)
    return loss.stage if loss else None


def test_an_answer_in_the_top_is_not_lost() -> None:
    assert named(run(BEST, answer=Held("answer", {"g": 2}, 9))) is None


def test_an_answer_is_not_lost_behind_other_answers() -> None:
    facts = run(BEST, answer=Held("answer", {"h": 1, "i": 2, "g": 3}, 9))
    assert named(facts) is None
    assert facts.answer.places == {"h": 1, "i": 1, "g": 1}
    assert named(run(BEST, answer=Held("answer", {"h": 1, "g": 4}, 9))) is not None


def test_a_failed_search_an_unknown_node_and_a_lost_record() -> None:
    assert named(run(BEST, failed="Postgres is away.")) is LostStage.FAILED
    assert named(run(BEST, types={})) is LostStage.UNKNOWN
    assert named(run(BEST, unsure="The release is gone.")) is LostStage.UNDECIDED


@pytest.mark.parametrize(
    ("best", "ways", "stage"),
    [
        (BEST, LostWays(), LostStage.UNREACHABLE),
        (BEST, LostWays(unsure="3 walks are too large."), LostStage.UNDECIDED),
        (replace(BEST, relinked=frozenset("g")), LostWays(), LostStage.LINKED),
        (replace(BEST, plan=replace(PLAN, target=Target("T", ("award",)))), LostWays((WAY,)), LostStage.TYPED),
        (replace(BEST, bound=(frozenset({"bob"}),)), LostWays((WAY,)), LostStage.LINKED),
        (replace(BEST, bound=(frozenset(),)), LostWays((WAY,)), LostStage.LINKED),
        (BEST, LostWays((WAY,)), LostStage.REACHED),
        (replace(BEST, unsure=frozenset("g")), LostWays((WAY,)), LostStage.UNDECIDED),
        (replace(BEST, reaches=frozenset("g")), LostWays((WAY,)), LostStage.CUT),
        (replace(BEST, reaches=frozenset("g"), listed=Held("plan 1", {}, 900, whole=False)), LostWays((WAY,)),
         LostStage.UNDECIDED),
    ],
)  # fmt: skip
def test_the_first_condition_of_the_best_plan_that_the_answer_does_not_meet(
    best: ExecutedPlan, ways: LostWays, stage: LostStage
) -> None:
    assert named(run(best, ways=ways)) is stage


def test_a_filter_that_leaves_the_answer_out_is_said() -> None:
    filtered = replace(PLAN, filters=(Filter("T", "year", ">", 2000),))
    loss = first_loss(run(replace(BEST, plan=filtered, without_filters=frozenset("g"))), "g", K)
    assert loss is not None
    assert (loss.stage, loss.why) == (LostStage.REACHED, "The hops of the plan lead to it, but a filter leaves it out.")


def test_a_start_is_right_only_if_a_comparable_plan_begins_there() -> None:
    """From nearly every node some plan leads to the answer; from `bob` only one that finds much else."""
    accident = LostWay((frozenset({"bob"}),), ("“Bob” (person)",), frozenset({"g"}), 0.02, 99)
    best = replace(BEST, bound=(frozenset({"bob"}),))
    assert named(run(best, ways=LostWays((WAY, accident)))) is LostStage.LINKED
    assert named(run(best, ways=LostWays((WAY, replace(accident, f1=0.6))))) is LostStage.REACHED


def test_a_plan_that_recovery_changed_is_judged_as_it_was_asked() -> None:
    changed = replace(BEST, changed=True, reaches=frozenset("g"), listed=Held("plan 1", {"g": 3}, 9))
    assert named(run(changed, steps=lists(graph=Held("rescore", {"g": 3}, 9)))) is LostStage.REACHED
    assert (
        named(run(replace(changed, changed=False), steps=lists(graph=Held("rescore", {"g": 3}, 9)))) is LostStage.RANKED
    )


def test_less_probable_plans_that_find_it_are_named() -> None:
    other = replace(BEST, index=1, probability=0.1, reaches=frozenset("g"))
    loss = first_loss(run(BEST, other), "g", K)
    assert loss is not None
    assert loss.why == "The hops of the plan do not lead to it. A less probable plan finds it: plan 2 (10%)."


def test_a_planner_that_leaves_a_question_to_the_text_is_to_blame_only_if_a_plan_would_have_found_it() -> None:
    text_only = replace(BEST, plan=Plan(target=Target("T", (), "who")), bound=())
    assert named(run(text_only)) is LostStage.PLANNED
    assert named(run(text_only, ways=LostWays())) is LostStage.RETRIEVED
    low = lists(text=Held("retrieve", {"g": 7}, 9))
    assert named(run(text_only, ways=LostWays(), steps=low)) is LostStage.RANKED


def test_a_step_that_failed_is_the_stage_that_lost_it() -> None:
    facts = run(BEST)
    assert facts.graph is not None
    for role, stage in (("plan", LostStage.PLANNED), ("link", LostStage.LINKED), ("graph", LostStage.CUT),
                        ("graph list", LostStage.RANKED)):  # fmt: skip
        broken = replace(facts, graph=replace(facts.graph, problems={role: "it took too long"}))
        assert first_loss(broken, "g", K) is not None
        assert named(broken) is stage


def test_the_fusion_lost_what_the_graph_had_at_the_top() -> None:
    assert named(run(BEST, steps=lists(graph=Held("rescore", {"g": 2}, 9)))) is LostStage.FUSED


def test_what_only_the_text_had_is_lost_in_the_fusion_unless_a_plan_would_have_put_it_there() -> None:
    steps = lists(text=Held("retrieve", {"g": 1}, 9))
    assert named(run(BEST, steps=steps)) is LostStage.REACHED
    assert named(run(BEST, steps=steps, ways=LostWays())) is LostStage.FUSED
    assert named(run(BEST, steps=steps, ways=LostWays((replace(WAY, found=500, places={"g": 40}),)))) is LostStage.FUSED


def test_a_fusion_inside_a_list_can_lose_an_answer() -> None:
    inner = (Held("retrieve/bm25", {"g": 1}, 9), Held("retrieve/vss", {}, 9))
    step = ListStep("retrieve", "text list", Held("retrieve", {"g": 5}, 9), inner)
    facts = RunFacts(("g",), {"g": "film"}, Held("answer", {"g": 5}, 9), (step,))
    loss = first_loss(facts, "g", K)
    assert loss is not None
    assert (loss.stage, loss.why) == (LostStage.FUSED, "retrieve/bm25 has it at rank 1; retrieve puts it at rank 5.")


def test_the_reranker_lost_only_what_the_list_before_it_had() -> None:
    fused = ListStep("fuse", "fusion", Held("fuse", {"g": 1}, 9), (Held("graph", {"g": 1}, 9),))
    reranked = ListStep("rerank", "rerank", Held("rerank", {"g": 8}, 9), (Held("reranker", {"g": 9}, 9),))
    facts = run(BEST, steps=(fused, reranked))
    assert named(facts) is LostStage.RERANKED
    before = replace(fused, output=Held("fuse", {"g": 5}, 9), inputs=(Held("graph", {}, 9),))
    lifted = replace(reranked, inputs=(Held("reranker", {"g": 1}, 9),))
    assert named(run(BEST, steps=(before, lifted))) is LostStage.REACHED


@pytest.mark.parametrize(("held", "stage"), [({}, LostStage.RETRIEVED), ({"g": 7}, LostStage.RANKED)])
def test_a_pipeline_of_text_alone(held: dict[str, int], stage: LostStage) -> None:
    step = ListStep("retrieve", "text list", Held("retrieve", held, 9))
    assert named(RunFacts(("g",), {"g": "film"}, Held("answer", held, 9), (step,))) is stage


def test_a_graph_list_without_a_planner_needs_a_way_through_the_graph() -> None:
    def spread(ways: LostWays) -> LostStage | None:
        graph = GraphFacts(False, (), None, {}, ways)
        return named(RunFacts(("g",), {"g": "film"}, NOWHERE, lists(), graph))

    assert spread(LostWays()) is LostStage.UNREACHABLE
    assert spread(LostWays((WAY,))) is LostStage.RETRIEVED
    assert spread(LostWays(named=False)) is LostStage.RETRIEVED


def test_the_closest_answer_has_the_best_rank_or_was_lost_last() -> None:
    facts = run(BEST, expected=("f", "g", "h"), types={"g": "film", "h": "film"})
    losses = {answer: first_loss(facts, answer, 1) for answer in facts.expected}
    assert closest(facts, losses) == "g"
    ranked = replace(facts, answer=Held("answer", {"h": 4}, 9))
    assert closest(ranked, losses) == "h"
