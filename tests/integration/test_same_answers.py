"""Whoever executes a plan finds the same: trying everything, Postgres, and a real Neo4j."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from search.domain.evidence import Path
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.domain.trace import Limit
from search.interfaces import GraphStore
from tests import oracle
from tests.engines import Engines
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.adapters.test_graph_postgres import RELATIONS, TYPES, cases, joined_anchors
from tests.search.stages.test_check import unlike_trying_everything

EXAMPLES = 15

pytestmark = pytest.mark.django_db


def differences(graph: Graph, linked: LinkedPlan, engine: GraphStore, most: int) -> list[str]:
    """Return in what an engine differs from trying everything: candidates, scores, their order, and paths."""
    expected = oracle.candidates(graph, linked)
    found = engine.execute(linked, Limit())
    scores = {candidate.key: candidate.score for candidate in found.candidates}
    wrong = []
    if scores != expected or len(scores) != len(found.candidates):
        wrong.append(f"{engine.backend}: candidates {scores} instead of {expected}\n{found.query}")
    if list(found.candidates) != sorted(found.candidates, key=lambda c: (-c.score, c.key)):
        wrong.append(f"{engine.backend}: the candidates are not in order")
    paths = engine.paths(linked, range(len(graph.nodes)), Limit(), most)
    if set(paths) != set(expected):
        wrong.append(f"{engine.backend}: paths of {set(paths)} instead of {set(expected)}")
    for key, several in paths.items():
        if not 1 <= len(several) <= most or not all(oracle.is_valid(graph, linked, match, key) for match in several):
            wrong.append(f"{engine.backend}: no paths of {key}: {several}")
        elif key in expected and score_of(linked, several[0]) != expected[key]:
            wrong.append(f"{engine.backend}: the first paths of {key} are not the best: {several[0]}")
    return wrong


def score_of(linked: LinkedPlan, match: Sequence[Path]) -> float:
    """Return the sum of the best cosines of the nodes that the paths of a match start from."""
    starts = [(path.nodes[0].var, path.nodes[0].node.key) for path in match]
    return sum(max(b.score for b in linked.bindings if (b.var, b.node.key) == start) for start in starts)


@given(case=cases())
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_random_plans_on_random_graphs(engines: Engines, case: tuple[Graph, LinkedPlan]) -> None:
    graph, linked = case
    for engine in engines.over(graph, schema_of(graph, TYPES, RELATIONS)):
        assert differences(graph, linked, engine, most=2) == []


def test_both_add_scores_in_the_order_of_the_plan_s_anchors(engines: Engines) -> None:
    several = list(joined_anchors())
    graph = several[0][0]
    for engine in engines.over(graph, schema_of(graph, TYPES, RELATIONS)):
        assert [differences(graph, linked, engine, most=2) for _, linked in several] == [[]] * len(several)


@given(case=cases())
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
def test_every_condition_of_random_plans_is_met_or_not_alike(engines: Engines, case: tuple[Graph, LinkedPlan]) -> None:
    graph, linked = case
    keys = range(0, len(graph.nodes), 2)
    for engine in engines.over(graph, schema_of(graph, TYPES, RELATIONS)):
        assert unlike_trying_everything(graph, linked, engine, keys) == []


@given(case=cases())
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_the_order_that_estimates_choose_changes_nothing(
    engines: Engines, monkeypatch: pytest.MonkeyPatch, case: tuple[Graph, LinkedPlan]
) -> None:
    # To eight nodes nothing is a burden; with the bound at a fraction of an edge every difference counts.
    monkeypatch.setattr("search.adapters.graph_matching.estimate.SMALL", 0.01)
    graph, linked = case
    for engine in engines.over(graph, schema_of(graph, TYPES, RELATIONS)):
        assert differences(graph, linked, engine, most=2) == []


ADA, BOB, HEAT, RAIN, NOIR, LOOP = range(6)
FILMS = Graph(
    (
        Node(ADA, "ada", "person", "Ada Holm", fields={"born": "1950-02-03"}),
        Node(BOB, "bob", "person", "Bob `Roe`", fields={"born": "1961-12-01"}),
        Node(HEAT, "heat", "film", "Heat", fields={"year": 1995, "tags": ["Crime", "ΟΔΟΣ"]}),
        Node(RAIN, "rain", "film", "RAIN İ", fields={"year": 2001.5, "tags": ["drama"]}),
        Node(NOIR, "noir", "genre", "noir", fields={}),
        Node(LOOP, "loop", "film", "🙂 ～", fields={"year": [1990, 2010]}),
    ),
    (
        (ADA, "directed", HEAT), (ADA, "directed", HEAT), (ADA, "acted", HEAT), (BOB, "acted", HEAT),
        (BOB, "acted", RAIN), (HEAT, "has", NOIR), (RAIN, "has", NOIR), (LOOP, "has", LOOP), (LOOP, "has", NOIR),
        (ADA, "directed", RAIN), (RAIN, "directed", BOB),
    ),
)  # fmt: skip
A_B = {"a": {ADA: 0.9, BOB: 0.7}, "b": {BOB: 0.8, ADA: 0.3}}
A = {"a": {ADA: 0.9, BOB: 0.7}}


def linked(
    bound: dict[str, dict[int, float]], hops: Sequence[Hop], labels: tuple[str, ...] = (), *filters: Filter
) -> LinkedPlan:
    """A plan over the films, its anchors bound to nodes with scores."""
    anchors = tuple(Anchor(var, var) for var in bound)
    bindings = tuple(Binding(var, FILMS.nodes[k], s) for var, scores in bound.items() for k, s in scores.items())
    return LinkedPlan(Plan(anchors, tuple(hops), Target("T", labels), filters), bindings)


# Each with the scores that a reader of FILMS comes to by hand.
BY_HAND: dict[str, tuple[LinkedPlan, dict[int, float]]] = {
    "parallel edges count once": (linked(A, [Hop("a", "directed", "T", "film")]), {HEAT: 0.9, RAIN: 0.9}),
    "a direction is kept": (linked(A, [Hop("a", "directed", "T", direction="in")]), {RAIN: 0.7}),
    "either direction": (linked(A, [Hop("a", "directed", "T")]), {HEAT: 0.9, RAIN: 0.9}),
    "a path does not come back to its start": (
        linked({"a": {ADA: 0.9}}, [Hop("a", "*", "x", "film"), Hop("x", "*", "T", "person")]), {BOB: 0.9},
    ),
    "an edge may serve two hops": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "x"), Hop("x", "has", "y"), Hop("y", "has", "T")]), {LOOP: 1.0},
    ),
    "two anchors are two nodes": (
        linked(A_B, [Hop("a", "*", "T", "film"), Hop("b", "*", "T", "film")]), {HEAT: 1.7, RAIN: 1.7},
    ),
    "an anchor's node is taken from every other variable": (
        linked({"a": {HEAT: 1.0}, "b": {ADA: 0.5}}, [Hop("a", "has", "g"), Hop("g", "has", "T"), Hop("b", "*", "T")]),
        {RAIN: 1.5},
    ),
    "a cycle closes": (
        linked(A, [Hop("a", "directed", "x"), Hop("x", "has", "T"), Hop("a", "acted", "x")]), {NOIR: 0.9},
    ),
    "the target is an anchor": (linked({"T": {HEAT: 0.4, RAIN: 0.6}}, []), {HEAT: 0.4, RAIN: 0.6}),
    "types of the target": (linked(A, [Hop("a", "*", "x"), Hop("x", "*", "T")], ("genre", "film")), {NOIR: 0.9}),
    "a number from a list": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", "year", ">", 2005)), {LOOP: 1.0},
    ),
    "between, broken and whole": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", "year", "between", [1995, 2001.5])),
        {HEAT: 1.0, RAIN: 1.0},
    ),
    "between demands one item for both ends": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", "year", "between", [1991, 1999])),
        {HEAT: 1.0},
    ),
    "text without regard to case": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", "tags", "in", ["crime", "DRAMA", 3])),
        {HEAT: 1.0, RAIN: 1.0},
    ),
    "part of a name": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", "name", "contains", "rAiN")), {RAIN: 1.0},
    ),
    "dates in their order": (
        linked({"a": {HEAT: 1.0}}, [Hop("a", "acted", "T")], (), Filter("T", "born", "<", "1960-01-01")), {ADA: 1.0},
    ),
    "signs in the order of code points": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", "name", ">", "～")), {LOOP: 1.0},
    ),
    "a field that no type has": (
        linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", "colour", "=", "red")), {},
    ),
    "a back-tick in a name": (
        linked({"a": {HEAT: 1.0}}, [Hop("a", "acted", "T")], (), Filter("T", "name", "=", "bob `ROE`")), {BOB: 1.0},
    ),
}  # fmt: skip


@pytest.fixture
def over_films(engines: Engines) -> list[GraphStore]:
    return engines.over(FILMS, schema_of(FILMS))


def test_plans_written_by_hand(over_films: list[GraphStore]) -> None:
    wrong = []
    for name, (plan, expected) in BY_HAND.items():
        assert oracle.candidates(FILMS, plan) == pytest.approx(expected, abs=1e-6), name
        wrong += [(name, text) for engine in over_films for text in differences(FILMS, plan, engine, most=3)]
    assert wrong == []


def test_one_letter_differs_where_lower_case_is_not_the_same_for_all(over_films: list[GraphStore]) -> None:
    """Letters whose lower case depends on the word or the language: both engines go letter by letter."""
    for value, expected in {"rain i": {RAIN}, "rain İ": {RAIN}, "οδοσ": {HEAT}, "οδος": set()}.items():
        field = "name" if value.startswith("rain") else "tags"
        plan = linked({"a": {NOIR: 1.0}}, [Hop("a", "has", "T")], (), Filter("T", field, "=", value))
        for engine in over_films:
            found = {candidate.key for candidate in engine.execute(plan, Limit()).candidates}
            assert found == expected, (engine.backend, value)


def test_generated_walks_on_a_larger_graph_agree_between_the_engines(engines: Engines) -> None:
    rng = np.random.default_rng(3)
    nodes = tuple(Node(key, f"n{key:03}", f"type{key % 3}", f"node {key}") for key in range(200))
    ends = rng.integers(0, len(nodes), (2_000, 2)).tolist()
    graph = Graph(nodes, tuple((s, f"relation{i % 4}", t) for i, (s, t) in enumerate(ends)))
    postgres, neo4j = engines.over(graph, schema_of(graph))
    for length, typed, joined in itertools.product((1, 3), (True, False), (False, True)):
        chain = ["a", *(f"x{i}" for i in range(1, length)), "T"]
        hops = [
            Hop(one, f"relation{i}" if typed else "*", two, "type1" if typed else "*")
            for i, (one, two) in enumerate(itertools.pairwise(chain))
        ]
        anchors = [Anchor("a", "a")] + [Anchor("b", "b")] * joined
        hops += [Hop("b", "*", "T")] * joined
        keys = rng.choice(len(nodes), 10, replace=False).tolist()
        bindings = [Binding("a", nodes[key], 1 - 0.05 * i) for i, key in enumerate(keys[:5])]
        bindings += [Binding("b", nodes[key], 0.9 - 0.07 * i) for i, key in enumerate(keys[5:])] * joined
        plan = LinkedPlan(Plan(tuple(anchors), tuple(hops)), tuple(bindings))
        one, two = (engine.execute(plan, Limit()) for engine in (postgres, neo4j))
        assert [c.key for c in one.candidates] == [c.key for c in two.candidates], plan.plan
        assert [c.score for c in one.candidates] == [c.score for c in two.candidates]
        shown = [candidate.key for candidate in one.candidates[:20]]
        paths = [engine.paths(plan, shown, Limit()) for engine in (postgres, neo4j)]
        assert [sorted(found) for found in paths] == [sorted(shown)] * 2
        for key in shown:
            assert score_of(plan, paths[0][key][0]) == score_of(plan, paths[1][key][0])


HOSTILE = (
    "`",
    "\\u0060",
    "'; DROP TABLE search_edge; --",
    "`}) DETACH DELETE n //",
    '"',
    "$p0",
    "%s",
    "{}",
    "\n",
    "🙂",
)


def test_hostile_names_and_values_run_and_find_only_what_they_say(engines: Engines) -> None:
    for i, (hostile, other) in enumerate(zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True)):
        graph = Graph(
            (
                Node(0, "n0", hostile, "x"),
                Node(1, "n1", other, hostile, fields={hostile: hostile}),
                Node(2, "n2", other, "y", fields={hostile: "y"}),
            ),
            ((0, hostile + other, 1), (0, hostile + other, 2)),
        )
        plan = Plan(
            (Anchor(other, hostile, hostile),),
            (Hop(other, hostile + other, "T" + hostile, other),),
            Target("T" + hostile, (other,), other),
            (Filter("T" + hostile, hostile, "=", hostile), Filter("T" + hostile, "name", "contains", hostile)),
        )
        bound = LinkedPlan(plan, (Binding(other, graph.nodes[0], 1.0),), 0)
        for engine in engines.over(graph, schema_of(graph)):
            assert [candidate.key for candidate in engine.execute(bound, Limit()).candidates] == [1], (i, engine)
            assert list(engine.paths(bound, [1, 2], Limit())) == [1], (i, engine)
