"""Who meets which condition: Postgres against trying everything, and what is asked at all."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from search.adapters.graph_postgres import PostgresGraph
from search.domain.conditions import CheckedConditions
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Traversal
from search.domain.plan import Anchor, Exclusion, Filter, Hop, Plan, Target
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.interfaces import GraphStore
from search.stages.check import Check
from tests import oracle
from tests.graphs import Nodes, schema_of, store
from tests.oracle import Graph
from tests.plan_parts import with_new_parts
from tests.rankings import ranked, table
from tests.search.adapters.test_graph_postgres import NUMBERS, RELATIONS, STRINGS, TYPES, cases
from tests.search.stages.doubles import TriesEverything

SNAPSHOT = 5


def checked(
    graph: GraphStore, plans: list[LinkedPlan], keys: Sequence[int], found: Sequence[Traversal] = (), **options: object
) -> CheckedConditions:
    """Check the keys, in their order, after a graph that put none of them into its list."""
    listed = GraphRanking(ranked({}), Trust.of_nothing(), found=found)
    text = ranked({key: -float(place) for place, key in enumerate(keys)})
    fusion = Fusion.of({"text": text}, {"text": 1.0}, 5, table({}))
    question = Question("?", int(str(options.pop("k", 20))))
    limit = options.pop("limit", Limit())
    assert isinstance(limit, Limit)
    return Check(graph, **options)(question, fusion, plans, listed, limit)  # type: ignore[arg-type]


def unlike_trying_everything(graph: Graph, linked: LinkedPlan, engine: GraphStore, keys: Sequence[int]) -> list[str]:
    """Return in what the check over an engine differs from trying everything, with and without its traversal."""
    wrong = []
    word = {True: "met", False: "not_met"}
    for found in ([engine.execute(linked, Limit())] if linked.is_executable else [], []):
        result = checked(engine, [linked], keys, found, seconds=600.0)
        for key in keys:
            whole, anchors, hops, filters, exclude = oracle.statuses(graph, linked, key)
            held = result.conditions[key]
            expected = (
                word[whole], {var: word[met] for var, met in anchors.items()}, [word[met] for met in hops],
                [word[met] for met in filters],
                [word[met] if linked.is_known(index) else "unknown" for index, met in enumerate(exclude)],
            )  # fmt: skip
            got = (held.whole, dict(held.anchors), list(held.hops), list(held.filters), list(held.exclude))
            if got != expected:
                wrong.append(f"{engine.backend}: {key} {held} instead of {expected}")
        if result.status != "ok":
            wrong.append(f"{engine.backend}: {result.detail}")
    return wrong


@pytest.mark.django_db
@given(case=cases())
@settings(max_examples=80, suppress_health_check=list(HealthCheck), deadline=None)
def test_every_anchor_hop_and_filter_of_random_plans_is_met_or_not_as_trying_everything_says(
    case: tuple[Graph, LinkedPlan],
) -> None:
    graph, linked = case
    schema = schema_of(graph, TYPES, RELATIONS)
    store(graph, schema, SNAPSHOT)
    engine = PostgresGraph(SNAPSHOT, schema, Nodes(graph, schema))
    assert unlike_trying_everything(graph, linked, engine, range(0, len(graph.nodes), 2)) == []


@pytest.mark.django_db
@given(case=cases(), seed=st.integers(0, 2**32))
@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None, phases=[Phase.generate])
def test_so_is_every_part_of_plans_with_exclusions_comparisons_and_orders(
    case: tuple[Graph, LinkedPlan], seed: int
) -> None:
    graph, linked = case
    schema = schema_of(graph, TYPES, RELATIONS)
    store(graph, schema, SNAPSHOT)
    engine = PostgresGraph(SNAPSHOT, schema, Nodes(graph, schema))
    rng = random.Random(seed)
    for _ in range(3):
        variant = with_new_parts(rng, graph, linked, (*STRINGS, *NUMBERS))
        order = variant.plan.order
        # Which answers the limit of an order keeps is a question to the traversal, not to a match.
        variant = replace(variant, plan=replace(variant.plan, order=order and replace(order, limit=None)))
        assert unlike_trying_everything(graph, variant, engine, range(0, len(graph.nodes), 2)) == [], variant.plan


# Ada (0) acted in 1, 2 and 3; 1 and 2 are of genre 5, of which 2 is of the year 2000; Bo (4) directed 3.
NODES = tuple(
    Node(key, f"n{key}", kind, kind, fields={"year": year})
    for key, (kind, year) in enumerate(
        [("person", 1950), ("film", 1990), ("film", 2000), ("film", 1990), ("person", 1960), ("genre", 1900)]
    )
)
GRAPH = Graph(
    NODES, ((0, "acted", 1), (0, "acted", 2), (0, "acted", 3), (4, "directed", 3), (1, "has", 5), (2, "has", 5))
)
ACTED = Hop("a", "acted", "T", "film")


def bound(plan: Plan, **nodes: int) -> LinkedPlan:
    return LinkedPlan(plan, tuple(Binding(var, NODES[key], 0.9) for var, key in nodes.items()), 0)


def by_trying(plan: Plan, keys: Sequence[int], **nodes: int) -> CheckedConditions:
    return checked(TriesEverything(GRAPH), [bound(plan, **nodes)], keys)


def test_a_hop_to_a_loose_end_is_met_by_the_candidate_alone() -> None:
    plan = Plan((Anchor("a", "Ada"),), (ACTED, Hop("T", "has", "g", "genre")))
    held = by_trying(plan, [1, 3], a=0).conditions
    assert {key: (one.whole, one.hops) for key, one in held.items()} == {
        1: ("met", ("met", "met")), 3: ("not_met", ("met", "not_met")),
    }  # fmt: skip


def test_a_filter_in_the_middle_is_checked_apart_from_the_anchor_behind_it() -> None:
    # Films that share a genre with a film of Ada's, that film being of a certain year.
    hops = (Hop("a", "acted", "x", "film"), Hop("x", "has", "g", "genre"), Hop("T", "has", "g"))
    plan = Plan((Anchor("a", "Ada"),), hops, Target("T", ("film",)), (Filter("x", "year", "=", 2000),))

    def held(year: int) -> dict[int, tuple[str, str]]:
        filtered = replace(plan, filters=(Filter("x", "year", "=", year),))
        conditions = by_trying(filtered, [1, 3], a=0).conditions
        return {key: (one.anchors[0][1], *one.filters) for key, one in conditions.items()}

    # 1 comes from 2, which is of 2000; nothing is of 1950; 3 is of no genre.
    assert held(2000) == {1: ("met", "met"), 3: ("not_met", "not_met")}
    assert held(1950) == {1: ("met", "not_met"), 3: ("not_met", "not_met")}


def test_the_graph_is_asked_nothing_about_a_plan_of_one_walk_that_was_traversed_to_its_end() -> None:
    engine = TriesEverything(GRAPH)
    linked = bound(Plan((Anchor("a", "Ada"),), (ACTED,)), a=0)
    found = engine.execute(linked, Limit())
    asked = engine.asked
    held = checked(engine, [linked], [1, 4], [found]).conditions
    assert {key: (one.whole, one.anchors) for key, one in held.items()} == {
        1: ("met", (("a", "met"),)), 4: ("not_met", (("a", "not_met"),)),
    }  # fmt: skip
    assert engine.asked == asked


def test_where_the_traversal_was_cut_the_graph_is_asked_about_those_it_does_not_hold() -> None:
    linked = bound(Plan((Anchor("a", "Ada"),), (ACTED,)), a=0)
    cut = Traversal(0, "test", TriesEverything(GRAPH).execute(linked, Limit()).candidates[:1], truncated=True)
    held = checked(TriesEverything(GRAPH), [linked], [1, 3, 4], [cut]).conditions
    assert {key: one.whole for key, one in held.items()} == {1: "met", 3: "met", 4: "not_met"}


def test_only_what_the_time_did_not_suffice_for_is_unknown() -> None:
    plan = Plan((Anchor("a", "Ada"), Anchor("b", "Bo")), (ACTED, Hop("b", "directed", "T")))
    linked = bound(plan, a=0, b=4)
    found = TriesEverything(GRAPH).execute(linked, Limit())
    result = checked(TriesEverything(GRAPH), [linked], [3, 1], [found], limit=Limit.seconds(0))
    three, one = result.conditions[3], result.conditions[1]
    assert (three.whole, three.hops) == ("met", ("met", "met"))
    assert (one.whole, one.anchors) == ("not_met", (("a", "unknown"), ("b", "unknown")))
    assert result.status == "degraded"
    assert result.detail.startswith("Conditions could not be checked: ")


def test_an_engine_that_is_down_leaves_unknown_what_it_was_asked_for() -> None:
    plan = Plan((Anchor("a", "Ada"), Anchor("b", "Bo")), (ACTED, Hop("b", "directed", "T")))
    down = TriesEverything(GRAPH, {0: StageError("check", "Postgres does not answer")})
    result = checked(down, [bound(plan, a=0, b=4)], [1])
    assert (result.conditions[1].whole, result.conditions[1].hops) == ("unknown", ("unknown", "unknown"))
    assert result.detail == "Conditions could not be checked: Postgres does not answer."


def test_the_first_hundred_are_checked_and_more_where_more_are_shown() -> None:
    linked = bound(Plan((Anchor("a", "Ada"),), (ACTED,)), a=0)
    keys = [*range(6)]
    assert list(checked(TriesEverything(GRAPH), [linked], keys, depth=3, k=2).conditions) == [0, 1, 2]
    assert list(checked(TriesEverything(GRAPH), [linked], keys, depth=3, k=5).conditions) == [0, 1, 2, 3, 4]


def test_without_a_plan_there_is_nothing_to_check() -> None:
    assert checked(TriesEverything(GRAPH), [], [1, 2]) == CheckedConditions()


# Films of Ada that Bo did not direct (1 and 2); the other reading is films of Bo (3).
NOT_BO = Plan(
    (Anchor("a", "Ada"),), (ACTED,), Target("T", ("film",)),
    exclude=(Exclusion((Anchor("b", "Bo"),), (Hop("b", "directed", "T", "film"),)),),
)  # fmt: skip
SHOWN = LinkedPlan(
    NOT_BO, (Binding("a", NODES[0], 0.9), Binding("b", NODES[4], 0.9, 0)), index=0, probability=0.8
)  # fmt: skip
OTHER = LinkedPlan(
    Plan((Anchor("c", "Bo"),), (Hop("c", "directed", "T", "film"),), Target("T", ("film",))),
    (Binding("c", NODES[4], 0.9),), index=1, probability=0.2,
)  # fmt: skip


def shown_beside(parts: dict[int, dict[int, float]], plans: Sequence[LinkedPlan] = (SHOWN, OTHER)) -> CheckedConditions:
    """Check the films 1, 2 and 3; `parts` says what each plan put into the graph's list."""
    engine = TriesEverything(GRAPH)
    found = [engine.execute(linked, Limit()) for linked in plans]
    graph = GraphRanking(
        ranked({key: 1.0 for part in parts.values() for key in part}), Trust.of_nothing(), parts, found
    )
    fusion = Fusion.of({"text": ranked({1: 3.0, 2: 2.0, 3: 1.0})}, {"text": 1.0}, 5, table({}))
    return Check(engine)(Question("?"), fusion, list(plans), graph, Limit())


def test_what_the_shown_plan_found_is_told_by_its_conditions_though_another_plan_had_the_largest_share() -> None:
    result = shown_beside({0: {1: 0.1, 2: 1.0}, 1: {1: 0.9}})
    told = result.of_shown(1)
    assert told is not None
    assert (told.plan_index, told.whole, told.anchors, told.exclude) == (0, "met", (("a", "met"),), ("met",))
    assert [share.plan_index for share in told.plans] == [1, 0]
    # Ranking compares the candidate by the plan that put it there.
    assert result.conditions[1].plan_index == 1


def test_what_the_question_excludes_is_told_as_excluded_though_another_reading_found_it() -> None:
    result = shown_beside({0: {1: 1.0}, 1: {3: 1.0}})
    told = result.of_shown(3)
    assert told is not None
    # Ada acted in 3, too; but Bo directed it.
    assert (told.plan_index, told.whole, told.anchors, told.exclude) == (0, "not_met", (("a", "met"),), ("not_met",))
    assert result.conditions[3].whole == "met"


def test_what_only_another_reading_found_keeps_the_conditions_of_that_reading() -> None:
    without = replace(SHOWN, plan=replace(NOT_BO, exclude=()), bindings=SHOWN.bindings[:1])
    had = Plan((Anchor("g", "genre"),), (Hop("T", "has", "g"),), Target("T", ("film",)))
    other = LinkedPlan(had, (Binding("g", NODES[5], 0.9),), index=1, probability=0.2)
    narrow = replace(without, plan=replace(without.plan, filters=(Filter("T", "year", "=", 2000),)))
    result = shown_beside({0: {2: 1.0}, 1: {1: 1.0}}, (narrow, other))
    held = {key: one.plan_index for key in (1, 2) if (one := result.of_shown(key)) is not None}
    assert held == {1: 1, 2: 0}


def test_the_most_probable_plan_is_not_asked_about_where_it_found_nothing() -> None:
    nobody = replace(SHOWN, plan=replace(NOT_BO, filters=(Filter("T", "year", "=", 1),)))
    result = shown_beside({1: {3: 1.0}}, (nobody, OTHER))
    assert (result.shown, result.conditions[3].plan_index) == ({}, 1)
