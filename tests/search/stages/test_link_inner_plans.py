"""An anchor that is a plan is bound to the answers of this plan, on every engine."""

from __future__ import annotations

import pytest

from search.domain.errors import StageError
from search.domain.graph import Node
from search.domain.plan import Anchor, Exclusion, Hop, Order, Plan, ScoredPlan, Target
from search.domain.trace import Limit, StepOutput
from search.interfaces import GraphStore
from search.stages.link import Link
from tests.engines import Engines
from tests.graphs import Nodes, schema_of
from tests.oracle import Graph
from tests.search.stages.doubles import Cosines, TriesEverything

LAND, MOOR, FENN, OSA, LIM, ASH, ELM = range(7)
GRAPH = Graph(
    nodes=(
        Node(LAND, "land", "state", "Land", fields={"population": 900}),
        Node(MOOR, "moor", "state", "Moor", fields={"population": 500}),
        Node(FENN, "fenn", "state", "Fenn", fields={"population": 900}),
        Node(OSA, "osa", "river", "Osa"),
        Node(LIM, "lim", "river", "Lim"),
        Node(ASH, "ash", "city", "Ash", fields={"population": 40}),
        Node(ELM, "elm", "city", "Elm", fields={"population": 70}),
    ),
    edges=(
        (OSA, "runs_through", LAND), (OSA, "runs_through", MOOR), (LIM, "runs_through", MOOR),
        (ASH, "lies_in", LAND), (ELM, "lies_in", MOOR),
    ),
)  # fmt: skip
LARGEST_STATE = Plan(target=Target("S", ("state",)), order=Order("population", "desc", 1))
LARGEST_CITY = Plan(target=Target("C", ("city",)), order=Order("population", "desc", 1))
ITS_STATE = Plan((Anchor("c", "the largest city", "city", plan=LARGEST_CITY),), (Hop("c", "lies_in", "S", "state"),),
                 Target("S", ("state",)))  # fmt: skip


def rivers_of(state: Plan) -> Plan:
    """Return the plan of the rivers in the states that a plan finds."""
    anchor = Anchor("s", "those states", "state", plan=state)
    return Plan((anchor,), (Hop("T", "runs_through", "s", "state"),), Target("T", ("river",)))


def link(plan: Plan, graph: GraphStore | None, **options: float) -> StepOutput:
    cosines = Cosines({}, {node.key: node.type for node in GRAPH.nodes})
    stage = Link(cosines, cosines, Nodes(GRAPH, schema_of(GRAPH)), graph=graph, **options)
    return stage([ScoredPlan(plan, "user", 1.0)], Limit())


def found(plan: Plan, graph: GraphStore) -> list[int]:
    [linked] = link(plan, graph, seconds=600)
    return sorted(candidate.key for candidate in graph.execute(linked, Limit()).candidates)


def test_its_nodes_are_all_answers_in_the_first_place_with_cosine_one() -> None:
    [linked] = link(rivers_of(LARGEST_STATE), TriesEverything(GRAPH))
    # Land and Fenn have 900 people each.
    assert [(bound.node.key, bound.score) for bound in linked.bindings_of("s")] == [(LAND, 1.0), (FENN, 1.0)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("plan", "rivers"),
    [(rivers_of(LARGEST_STATE), [OSA]), (rivers_of(ITS_STATE), [OSA, LIM])],
    ids=["a superlative inside", "a plan inside a plan inside a plan"],
)
def test_what_it_finds_by_hand_is_found_on_every_engine(engines: Engines, plan: Plan, rivers: list[int]) -> None:
    for engine in (TriesEverything(GRAPH), *engines.over(GRAPH, schema_of(GRAPH))):
        assert found(plan, engine) == rivers, engine.backend


def test_an_exclusion_is_bound_to_them_as_well() -> None:
    # Rivers that run through no state with the largest population: only the Lim.
    anchor = Anchor("s", "the largest states", "state", plan=LARGEST_STATE)
    pattern = Exclusion((anchor,), (Hop("T", "runs_through", "s", "state"),))
    graph = TriesEverything(GRAPH)
    assert found(Plan(target=Target("T", ("river",)), exclude=(pattern,)), graph) == [LIM]


def test_nothing_inside_means_nothing_found_and_the_note_says_so() -> None:
    # No city has a river.
    river = Anchor("r", "Osa", "river", ids=("osa",))
    empty = Plan((river,), (Hop("r", "lies_in", "S", "state"),), Target("S", ("state",)))
    linked = link(rivers_of(empty), TriesEverything(GRAPH))
    assert linked[0].bindings == ()
    assert linked.detail == "Nothing was found for 'those states'."


def test_more_answers_than_are_taken_are_told() -> None:
    linked = link(rivers_of(LARGEST_STATE), TriesEverything(GRAPH), inner_k=1)
    assert len(linked[0].bindings) == 1
    assert (linked.status, "only 1 were taken" in linked.detail) == ("degraded", True)


def test_a_failure_inside_fails_the_search_only_if_no_other_plan_is_left() -> None:
    down = TriesEverything(GRAPH, {0: StageError("graph", "the engine is away")})
    with pytest.raises(StageError, match="the engine is away"):
        link(rivers_of(LARGEST_STATE), down)
    cosines = Cosines({}, {})
    stage = Link(cosines, cosines, Nodes(GRAPH, schema_of(GRAPH)), graph=down)
    other = Plan((Anchor("r", "Osa", "river", ids=("osa",)),), (), Target("r", ("river",)))
    linked = stage([ScoredPlan(rivers_of(LARGEST_STATE), "llm", 0.5), ScoredPlan(other, "schema", 0.5)], Limit())
    assert linked.status == "degraded"
    assert "the engine is away" in linked.detail
    assert [len(one.bindings) for one in linked] == [0, 1]
