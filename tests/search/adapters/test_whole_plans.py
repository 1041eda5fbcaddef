"""Whole plans with exclusions, order, comparisons and no anchors: Postgres and the files against trying everything."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from search.adapters.graph_memmap import MemmapGraph
from search.adapters.graph_postgres import PostgresGraph
from search.domain.linking import LinkedPlan
from search.domain.trace import Limit
from search.interfaces import GraphStore
from tests import oracle
from tests.graphs import Nodes, schema_of, store
from tests.oracle import Graph
from tests.plan_parts import with_new_parts
from tests.search.adapters.test_graph_memmap import adjacency
from tests.search.adapters.test_graph_postgres import NUMBERS, RELATIONS, STRINGS, TYPES, cases

SNAPSHOT = 1
VARIANTS = 9
EXAMPLES = 230
"""Graphs; each is asked `VARIANTS` plans, so that more than 2,000 random plans are compared."""

pytestmark = pytest.mark.django_db


def unlike(graph: Graph, linked: LinkedPlan, engine: GraphStore, most: int = 2) -> list[str]:
    """Return in what an engine differs from trying everything: candidates, order, keys that match, paths."""
    expected = oracle.candidates(graph, linked)
    found = engine.execute(linked, Limit())
    wrong = []
    got = [(candidate.key, round(candidate.score, 6)) for candidate in found.candidates]
    if linked.plan.order is None:
        right = sorted(((key, round(score, 6)) for key, score in expected.items()), key=lambda one: (-one[1], one[0]))
    else:
        placed = oracle.answers(graph, linked)
        right = [(key, round(score, 6)) for key, score, _, _ in placed]
        told = [(found.placed[key].value, found.placed[key].place) for key, _ in got]
        if told != [(value, place) for _, _, value, place in placed]:
            wrong.append(f"{engine.backend}: values and places {told} instead of {placed}")
    if got != right or found.truncated:
        wrong.append(f"{engine.backend}: candidates {got} instead of {right}\n{found.query}")
    keys = range(len(graph.nodes))
    loose = oracle.matching(graph, linked, keys)
    if (matched := engine.matching(linked, keys, Limit())) != loose:
        wrong.append(f"{engine.backend}: {matched} match instead of {loose}")
    paths = engine.paths(linked, keys, Limit(), most)
    if set(paths) != (set(expected) if linked.is_bound else set()):
        wrong.append(f"{engine.backend}: paths of {set(paths)} instead of {set(expected)}")
    for key, several in paths.items():
        if not 1 <= len(several) <= most or not all(oracle.is_valid(graph, linked, match, key) for match in several):
            wrong.append(f"{engine.backend}: paths of {key}: {several}")
    return wrong


@given(case=cases(), seed=st.integers(0, 2**32))
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None, phases=[Phase.generate])
def test_engines_find_what_trying_everything_finds(case: tuple[Graph, LinkedPlan], seed: int) -> None:
    graph, linked = case
    schema = schema_of(graph, TYPES, RELATIONS)
    store(graph, schema, SNAPSHOT)
    nodes = Nodes(graph, schema)
    postgres = PostgresGraph(SNAPSHOT, schema, nodes)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        memory = MemmapGraph(schema, nodes, adjacency(graph, schema, Path(folder)), postgres)
        for _ in range(VARIANTS):
            variant = with_new_parts(rng, graph, linked, (*STRINGS, *NUMBERS))
            for engine in (postgres, memory):
                assert unlike(graph, variant, engine) == [], variant.plan
