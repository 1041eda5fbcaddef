"""Whole plans with exclusions, order, comparisons and no anchors: Postgres and the files against trying everything."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from search.adapters.graph_postgres import PostgresGraph
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan, Traversal
from search.domain.plan import Anchor, Count, Filter, Hop, Order, Plan, Target
from search.domain.trace import Limit
from search.interfaces import GraphStore
from tests import oracle
from tests.graphs import Nodes, mapped, schema_of, store
from tests.oracle import Graph
from tests.plan_parts import with_new_parts
from tests.search.adapters.test_graph_postgres import NUMBERS, RELATIONS, STRINGS, TYPES, cases

SNAPSHOT = 1
VARIANTS = 9
EXAMPLES = 230
"""Graphs; each is asked `VARIANTS` plans, so that more than 2,000 random plans are compared."""

pytestmark = pytest.mark.django_db


Answer = tuple[int, float, object, int | None]
"""Key, score, and the value and the place in the plan's order; None twice without an order."""


def answers_of(graph: Graph, linked: LinkedPlan) -> list[Answer]:
    """Return the answers in their order, by trying everything."""
    if linked.plan.order is not None:
        return [(key, round(score, 6), value, place) for key, score, value, place in oracle.answers(graph, linked)]
    scores = oracle.candidates(graph, linked).items()
    return [(key, round(score, 6), None, None) for key, score in sorted(scores, key=lambda one: (-one[1], one[0]))]


def answers_in(found: Traversal) -> list[Answer]:
    """Return the answers that an engine found, in its order."""
    placed = [found.placed.get(candidate.key) for candidate in found.candidates]
    return [
        (candidate.key, round(candidate.score, 6), own.value if own else None, own.place if own else None)
        for candidate, own in zip(found.candidates, placed, strict=True)
    ]


def aggregate_in(found: Traversal) -> tuple[object, int, int] | None:
    """Return (value, nodes that have the field, all answers) of what an engine computed, or None."""
    one = found.aggregate
    return None if one is None else (None if one.value is None else float(one.value), one.nodes, one.answers)


def unlike(graph: Graph, linked: LinkedPlan, engines: Sequence[GraphStore], most: int = 2) -> list[str]:
    """Return in what engines differ from trying everything: answers, keys that match, paths."""
    expected, right = oracle.candidates(graph, linked), answers_of(graph, linked)
    keys = range(len(graph.nodes))
    loose = oracle.matching(graph, linked, keys)
    wrong = []
    for engine in engines:
        found = engine.execute(linked, Limit())
        if answers_in(found) != right or found.truncated:
            wrong.append(f"{engine.backend}: answers {answers_in(found)} instead of {right}\n{found.query}")
        if (computed := aggregate_in(found)) != (wanted := oracle.aggregate(graph, linked)):
            wrong.append(f"{engine.backend}: {computed} instead of {wanted} is computed\n{found.query}")
        if (matched := engine.matching(linked, keys, Limit())) != loose:
            wrong.append(f"{engine.backend}: {matched} match instead of {loose}")
        paths = engine.paths(linked, keys, Limit(), most)
        if set(paths) != (set(expected) if linked.is_bound else set()):
            wrong.append(f"{engine.backend}: paths of {set(paths)} instead of {set(expected)}")
        for key, several in paths.items():
            if not 1 <= len(several) <= most or not all(oracle.is_valid(graph, linked, one, key) for one in several):
                wrong.append(f"{engine.backend}: paths of {key}: {several}")
    return wrong


@given(case=cases(), seed=st.integers(0, 2**32))
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None, phases=[Phase.generate])
def test_engines_find_what_trying_everything_finds(case: tuple[Graph, LinkedPlan], seed: int) -> None:
    graph, linked = case
    schema = schema_of(graph, TYPES, RELATIONS)
    store(graph, schema, SNAPSHOT)
    postgres = PostgresGraph(SNAPSHOT, schema, Nodes(graph, schema))
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        memory = mapped(graph, schema, Path(folder), postgres)
        for _ in range(VARIANTS):
            variant = with_new_parts(rng, graph, linked, (*STRINGS, *NUMBERS))
            assert unlike(graph, variant, (postgres, memory)) == [], variant.plan


def test_a_count_among_the_nodes_of_another_variable_counts_only_these() -> None:
    # Ada directed three films, two of them dramas, the third of 1990; Bob directed four films, one drama.
    names = ["drama", "a", "b", "c", "d", "e", "f", "g", "Ada", "Bob"]
    types = ["genre", *["film"] * 7, "person", "person"]
    years = {1: 2001, 2: 2002, 3: 1990, 4: 2001}
    nodes = tuple(
        Node(key, f"n{key}", kind, name, fields={"year": years[key]} if key in years else {})
        for key, (kind, name) in enumerate(zip(types, names, strict=True))
    )
    drama, ada, bob = 0, 8, 9
    edges = [(film, "has", drama) for film in (1, 2, 4)] + [(ada, "directed", film) for film in (1, 2, 3)]
    graph = Graph(nodes, tuple(edges + [(bob, "directed", film) for film in (4, 5, 6, 7)]))
    hops = (Hop("A", "has", "x", "film", "in"), Hop("x", "directed", "T", "person", "in"))
    count = Count("directed", "out", among="x")
    plan = Plan((Anchor("A", "drama", "genre"),), hops, Target("T", ("person",)))
    asked = {
        "most dramas": (replace(plan, order=Order(count, "desc", 1)), [ada]),
        "most films": (replace(plan, order=Order(replace(count, among=""), "desc", 1)), [bob]),
        "two dramas": (replace(plan, filters=(Filter("T", "", ">=", 2, count),)), [ada]),
        "two films": (replace(plan, filters=(Filter("T", "", ">=", 2, replace(count, among="")),)), [ada, bob]),
        # Conditions on the counted nodes select what is counted: of one drama each is the year 2001.
        "dramas of 2001": (
            replace(plan, filters=(Filter("x", "year", "=", 2001), Filter("T", "", "=", 1, count))), [ada, bob],
        ),
        # No name at all: the counted films are those of 2001 and later.
        "new films": (
            Plan((), (Hop("T", "directed", "x", "film", "out"),), Target("T", ("person",)),
                 (Filter("x", "year", ">", 2000),), order=Order(count, "desc", 1)), [ada],
        ),
    }  # fmt: skip
    schema = schema_of(graph, TYPES, RELATIONS)
    store(graph, schema, SNAPSHOT)
    postgres = PostgresGraph(SNAPSHOT, schema, Nodes(graph, schema))
    with tempfile.TemporaryDirectory() as folder:
        files = mapped(graph, schema, Path(folder), postgres)
        for said, (one, right) in asked.items():
            bindings = (Binding("A", nodes[drama], 1.0),) if one.anchors else ()
            linked = LinkedPlan(one, bindings)
            assert sorted(key for key, *_ in answers_of(graph, linked)) == right, said
            assert unlike(graph, linked, (postgres, files)) == [], said
