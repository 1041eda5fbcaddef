"""Every bound plan is executed; one that fails takes no other with it."""

import pytest

from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Hop, Plan
from search.domain.trace import Limit
from search.stages.traverse import Traverse
from tests.oracle import Graph
from tests.search.stages.doubles import TriesEverything

NODES = tuple(Node(key, f"n{key}", "thing", f"thing {key}") for key in range(4))
GRAPH = Graph(NODES, ((0, "r", 1), (0, "r", 2), (3, "r", 0)))
PLAN = Plan((Anchor("a", "thing 0"),), (Hop("a", "r", "T", direction="out"),))


def bound(index: int, key: int = 0) -> LinkedPlan:
    return LinkedPlan(PLAN, (Binding("a", NODES[key], 0.9),), index)


def test_each_plan_gets_its_own_answer_in_order() -> None:
    found = Traverse(TriesEverything(GRAPH))([bound(0), bound(1, 3)], Limit())
    assert [(t.plan_index, [c.key for c in t.candidates]) for t in found] == [(0, [1, 2]), (1, [0])]
    assert (found.status, found.detail) == ("ok", "")


def test_a_plan_without_anchors_is_not_executed() -> None:
    graph = TriesEverything(GRAPH)
    assert Traverse(graph)([LinkedPlan(Plan(), (), 0), bound(1)], Limit())[0].plan_index == 1
    assert graph.asked == 1


def test_a_plan_with_an_unbound_anchor_finds_nothing_and_asks_nothing() -> None:
    graph = TriesEverything(GRAPH)
    assert Traverse(graph)([LinkedPlan(PLAN, (), 0)], Limit())[0].candidates == ()
    assert graph.asked == 0


def test_the_row_limit_cuts_and_says_so() -> None:
    found = Traverse(TriesEverything(GRAPH), rows=1)([bound(0)], Limit())[0]
    assert ([c.key for c in found.candidates], found.truncated) == ([1], True)


def test_a_plan_that_fails_leaves_the_others_their_answers_and_is_named() -> None:
    graph = TriesEverything(GRAPH, down={0: DeadlineExceeded("traverse", "it took too long")})
    found = Traverse(graph)([bound(0), bound(1)], Limit())
    assert [(len(t.candidates), t.truncated) for t in found] == [(0, True), (2, False)]
    assert (found.status, found.detail) == ("degraded", "Plan 1 was left out: it took too long.")


def test_when_all_plans_fail_the_stage_fails_with_the_first_reason() -> None:
    graph = TriesEverything(GRAPH, down={0: StageError("traverse", "first"), 1: StageError("traverse", "second")})
    with pytest.raises(StageError, match="first"):
        Traverse(graph)([bound(0), bound(1), LinkedPlan(PLAN, (), 2)], Limit())


def test_a_cancelled_search_stops_at_once() -> None:
    with pytest.raises(SearchCancelled):
        Traverse(TriesEverything(GRAPH))([bound(0)], Limit(cancelled=lambda: True))


def test_the_backend_is_the_engines() -> None:
    assert Traverse(TriesEverything(GRAPH)).backend == "brute force"


def test_one_plan_gets_its_own_seconds_and_no_more_than_are_left() -> None:
    left: list[float] = []

    class Watch(TriesEverything):
        def _check(self, linked: LinkedPlan, limit: Limit) -> None:
            left.append(limit.remaining())

    Traverse(Watch(GRAPH), seconds=3.0)([bound(0)], Limit())
    Traverse(Watch(GRAPH), seconds=3.0)([bound(0)], Limit.seconds(1.0))
    assert 2 < left[0] <= 3
    assert left[1] <= 1
