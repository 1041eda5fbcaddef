"""How fast Postgres executes plans: a random graph of 130,000 nodes and 2 million edges, 10 bindings an anchor.

Its rows are in a snapshot of its own, and gone afterwards.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchmarks.common import percentiles, table
from search.adapters.graph_postgres import PostgresGraph
from search.domain.graph import ANY, Node, NodeType, Relation, RelationType, Schema
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Hop, Plan, Target
from search.domain.trace import Limit
from search.models.partitions import partition

NODES, EDGES, TYPES, RELATIONS, BINDINGS = 130_000, 2_000_000, 8, 12, 10
SNAPSHOT = 2_000_000_001
QUESTIONS = 100


def main() -> None:
    """Load the graph, time each kind of plan, print the table."""
    rng = np.random.default_rng(7)
    types = rng.integers(0, TYPES, NODES)
    schema, nodes = _schema(types), _Names(types)
    rows = []
    with _stored(types, rng) as seconds:
        graph = PostgresGraph(SNAPSHOT, schema, nodes)
        for name, make in _plans(rng, types).items():
            times, paths, found = [], [], []
            for _ in range(QUESTIONS):
                linked = make()
                began = time.perf_counter()
                traversal = graph.execute(linked, Limit.seconds(30), rows=10_000)
                times.append(time.perf_counter() - began)
                found.append(len(traversal.candidates))
                began = time.perf_counter()
                graph.paths(linked, [candidate.key for candidate in traversal.candidates[:20]], Limit.seconds(30))
                paths.append(time.perf_counter() - began)
            rows.append((name, *percentiles(times), int(np.median(found)), *percentiles(paths)))
    title = f"{NODES:,} nodes, {EDGES:,} edges, loaded and indexed in {seconds:.1f} s; {BINDINGS} bindings an anchor"
    table(title, ("plan", "p50 ms", "p95 ms", "candidates", "paths of 20, p50", "p95"), rows)


def _schema(types: NDArray[np.int64]) -> Schema:
    kinds = tuple(NodeType(f"type{t}", int((types == t).sum())) for t in range(TYPES))
    relations = tuple(Relation(f"relation{r}") for r in range(RELATIONS))
    pairs = tuple(RelationType(a.name, r.name, b.name, 1) for a in kinds for r in relations for b in kinds)
    return Schema(kinds, relations, pairs)


class _Names:
    """A node store that makes its names up."""

    def __init__(self, types: NDArray[np.int64]) -> None:
        self._types = types

    def references(self, keys: Sequence[int]) -> list[Node]:

        return [Node(key, f"n{key}", f"type{self._types[key]}", f"node {key}") for key in keys]


@contextmanager
def _stored(types: NDArray[np.int64], rng: np.random.Generator) -> Iterator[float]:
    """Keep the graph in partitions while the benchmark runs; give the seconds that loading took.

    Degrees are skewed as in real graphs: half of the ends are uniform, half follow a power law.
    """

    skewed = (NODES * rng.random(EDGES) ** 2.2).astype(np.int64)
    source = np.where(rng.random(EDGES) < 0.5, rng.integers(0, NODES, EDGES), rng.permutation(NODES)[skewed])
    target, relation = rng.integers(0, NODES, EDGES), rng.integers(0, RELATIONS, EDGES)
    edges = partition("search_edge", SNAPSHOT)
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {edges}")
        cursor.execute(f"CREATE UNLOGGED TABLE {edges} (LIKE search_edge)")
        with cursor.copy(
            f"COPY {edges} (snapshot_id, relation, source, target, source_type, target_type) FROM STDIN"
        ) as c:
            for row in zip(relation.tolist(), source.tolist(), target.tolist(), types[source].tolist(),
                           types[target].tolist(), strict=True):  # fmt: skip
                c.write_row((SNAPSHOT, *row))
        cursor.execute(f"CREATE INDEX ON {edges} (source, relation, target) INCLUDE (target_type)")
        cursor.execute(f"CREATE INDEX ON {edges} (target, relation, source) INCLUDE (source_type)")
        cursor.execute(f"VACUUM ANALYZE {edges}")
        try:
            yield time.perf_counter() - began
        finally:
            cursor.execute(f"DROP TABLE {edges}")


def _plans(rng: np.random.Generator, types: NDArray[np.int64]) -> dict[str, Callable[[], LinkedPlan]]:

    def bound(var: str) -> list[Binding]:
        keys = rng.choice(NODES, BINDINGS, replace=False).tolist()
        nodes = [Node(key, f"n{key}", f"type{types[key]}", "") for key in keys]
        return [Binding(var, node, 1 - 0.01 * i) for i, node in enumerate(nodes)]

    def hop(source: str, to_var: str, typed: bool) -> Hop:
        if not typed:
            return Hop(source, ANY, to_var)
        return Hop(source, f"relation{rng.integers(RELATIONS)}", to_var, f"type{rng.integers(TYPES)}")

    def walk(hops: int, typed: bool) -> Callable[[], LinkedPlan]:
        chain = ["a", *(f"x{i}" for i in range(1, hops)), "T"]
        return lambda: LinkedPlan(
            Plan(
                (Anchor("a", "a"),),
                tuple(hop(one, two, typed) for one, two in itertools.pairwise(chain)),
                Target("T"),
            ),
            tuple(bound("a")),
        )

    def join(typed: bool) -> LinkedPlan:
        hops = (hop("a", "x", typed), Hop("x", ANY, "T"), hop("b", "T", typed))
        plan = Plan((Anchor("a", "a"), Anchor("b", "b")), hops, Target("T"))
        return LinkedPlan(plan, (*bound("a"), *bound("b")))

    return {
        "typed, 1 hop": walk(1, True),
        "typed, 2 hops": walk(2, True),
        "typed, 3 hops": walk(3, True),
        "any, 1 hop": walk(1, False),
        "any, 2 hops": walk(2, False),
        "typed, join of 2 + 1 hops": lambda: join(True),
        "any, join of 2 + 1 hops": lambda: join(False),
    }
