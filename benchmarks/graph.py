"""Speed of plan execution on a random graph of 190,000 nodes and 4 million edges, an eighth of them at one hub.

The graph is mapped, stored in a separate snapshot in Postgres, and in Neo4j if `NEO4J_URL` names a server, and removed
afterwards. All engines are asked the same plans in one run, and answers that none of them cut must be the same. Neo4j
is asked twice: with the bound on partial matches that searches use, and with that of the mapped graph.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
from django.conf import settings
from django.db import connection as database
from numpy.typing import NDArray

from benchmarks.common import percentiles, show, table
from search.adapters.adjacency_memmap import MemmapAdjacency, build
from search.adapters.columns_memmap import MemmapColumns
from search.adapters.graph_memmap import MemmapGraph
from search.adapters.graph_memmap.execute import MOST_ROWS
from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import Connection, connect
from search.adapters.graph_neo4j.execute import Neo4jGraph
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.project import Projection
from search.adapters.graph_postgres import PostgresGraph
from search.adapters.graph_postgres.compile import GraphTables, SqlCompiler
from search.domain.errors import StageError
from search.domain.graph import ANY, Node, NodeType, Relation, RelationType, Schema
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Hop, Plan, Target
from search.domain.trace import Limit
from search.interfaces import GraphStore, NodeStore
from search.models.partitions import partition
from search.services.knowledge.sync_graph import EDGES_AT_ONCE, NODES_AT_ONCE
from tests.graphs import edge_arrays

EdgeArrays = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

NODES, EDGES, TYPES, RELATIONS, BINDINGS = 190_000, 4_000_000, 8, 12, 10
HUB, HUB_EDGES = 0, 500_000
SNAPSHOT = 2_000_000_001
QUESTIONS = 100
SHAPES, WARM = 4, 3
"""Different plans of each kind, and untimed runs of each plan with other bindings."""
SECONDS_A_KIND = 8.0
"""Time limit for measuring one kind of plan on one engine."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of plan: `plan` makes a random plan of this kind, `bind` gives a plan random bindings."""

    plan: Callable[[], Plan]
    bind: Callable[[Plan], LinkedPlan]


@dataclass(slots=True)
class Times:
    """Measurements of one kind of plan on one engine.

    `plans` holds the seconds of each plan, `paths` the seconds for the paths of 20 candidates, `found` the numbers of
    candidates, `cut` the number of plans that were cut off or whose paths failed, `answers` those of the other plans.
    """

    plans: list[float] = field(default_factory=list)
    paths: list[float] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    cut: int = 0
    answers: dict[int, frozenset[int]] = field(default_factory=dict)

    def unlike(self, other: Times) -> int:
        """Return the number of plans whose answers both have whole, and which are not the same."""
        both = self.answers.keys() & other.answers.keys()
        return sum(self.answers[at] != other.answers[at] for at in both)

    def row(self) -> tuple[int | float, ...]:
        """Return the cells of the kind's row in the table."""
        paths = percentiles(self.paths or [0.0])
        return len(self.plans), *percentiles(self.plans), int(np.median(self.found or [0])), self.cut, *paths


def main(arguments: Sequence[str] = ()) -> None:
    """Load the graph, measure each kind of plan on each engine, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks graph", description=__doc__)
    parser.add_argument("--plans", default="", help="only the kinds of plans whose name has this text")
    asked = parser.parse_args(list(arguments))
    rng = np.random.default_rng(7)
    types = rng.integers(0, TYPES, NODES)
    edges = _edges(rng, types)
    schema, nodes = _schema(types), cast(NodeStore, _Names(types))
    with (
        _mapped(schema, types, edges) as (degrees, columns),
        _stored(types, edges) as seconds,
        _projected(schema, types, edges) as (neo4j, synced),
    ):
        postgres = PostgresGraph(SNAPSHOT, schema, nodes, degrees)
        engines: dict[str, GraphStore] = {"mapped": MemmapGraph(schema, nodes, degrees, columns, postgres)}
        engines["Postgres"] = postgres
        if neo4j is not None:
            engines["Neo4j"] = Neo4jGraph(neo4j, SNAPSHOT, schema, nodes, degrees)
            engines["Neo4j, uncut"] = Neo4jGraph(neo4j, SNAPSHOT, schema, nodes, degrees, MOST_ROWS)
        rows, compiled = [], []
        for name, kind in _plans(rng, types, _large(edges)).items():
            if asked.plans not in name:
                continue
            shapes = [kind.plan() for _ in range(SHAPES)]
            warm = [kind.bind(plan) for plan in shapes * WARM]
            questions = [kind.bind(plan) for plan, _ in zip(itertools.cycle(shapes), range(QUESTIONS), strict=False)]
            compiled += questions
            usual: Times | None = None
            for engine, graph in engines.items():
                first, _ = percentiles(_timed(graph, warm).plans[:SHAPES])
                times = _timed(graph, questions)
                usual = usual or times
                ratio = percentiles(times.plans)[0] / percentiles(usual.plans)[0]
                rows.append((name, engine, first, *times.row(), ratio, times.unlike(usual)))
        title = (
            f"{NODES:,} nodes, {EDGES:,} edges; {BINDINGS} bindings an anchor; {SHAPES} plans of each kind ran warm: "
        )
        title += f"{WARM} times each, with other bindings than those timed. Into Postgres in {seconds:.0f} s"
        title += f", into Neo4j in {synced:.0f} s, {EDGES / synced:,.0f} edges a second" if neo4j else ""
        heads = ("plan", "engine", "first ms", "plans", "p50 ms", "p95 ms", "found", "cut", "20 paths, p50", "p95",
                 "× mapped", "unlike")  # fmt: skip
        table(title, heads, rows)
        _compiled(schema, compiled)


def _timed(graph: GraphStore, questions: Sequence[LinkedPlan]) -> Times:
    """Run plans of one kind on one engine, as many of them as fit into `SECONDS_A_KIND`."""
    times = Times()
    ends = time.perf_counter() + SECONDS_A_KIND
    for at, linked in enumerate(questions):
        began = time.perf_counter()
        if began > ends and times.plans:
            break
        try:
            traversal = graph.execute(linked, Limit.seconds(SECONDS_A_KIND), rows=10_000)
        except StageError:
            # Its time ran out, or Neo4j its memory.
            times.plans.append(time.perf_counter() - began)
            times.cut += 1
            continue
        times.plans.append(time.perf_counter() - began)
        times.found.append(traversal.total)
        whole = not traversal.truncated or traversal.unlisted > 0
        times.cut += not whole
        if not traversal.truncated:
            times.answers[at] = frozenset(candidate.key for candidate in traversal.candidates)
        began = time.perf_counter()
        try:
            graph.paths(linked, [candidate.key for candidate in traversal.candidates[:20]], Limit.seconds(30))
        except StageError:
            times.cut += 1
        times.paths.append(time.perf_counter() - began)
    return times


def _compiled(schema: Schema, plans: Sequence[LinkedPlan]) -> None:
    """Print the time for parsing, checking and compiling a plan."""
    times = []
    for linked in plans:
        written = linked.plan.to_json()
        began = time.perf_counter()
        plan = Plan.parse(written, schema)
        SqlCompiler(LinkedPlan(plan, linked.bindings), schema, GraphTables(SNAPSHOT)).candidates(10_000)
        times.append(time.perf_counter() - began)
    table("A plan read, validated and compiled", ("plans", "p50 ms", "p95 ms"), [(len(plans), *percentiles(times))])


def _schema(types: NDArray[np.int64]) -> Schema:
    kinds = tuple(NodeType(f"type{t}", int((types == t).sum())) for t in range(TYPES))
    relations = tuple(Relation(f"relation{r}") for r in range(RELATIONS))
    count = EDGES // (len(kinds) ** 2 * len(relations))
    pairs = tuple(RelationType(a.name, r.name, b.name, count) for a in kinds for r in relations for b in kinds)
    return Schema(kinds, relations, pairs)


def _edges(rng: np.random.Generator, types: NDArray[np.int64]) -> EdgeArrays:
    """Return relation codes, source keys and target keys of the edges, sorted.

    Degrees are skewed as in real graphs: half of the sources are uniform, half follow a power law. One node is a hub.
    """
    skewed = (NODES * rng.random(EDGES) ** 2.2).astype(np.int64)
    source = np.where(rng.random(EDGES) < 0.5, rng.integers(0, NODES, EDGES), rng.permutation(NODES)[skewed])
    target, relation = rng.integers(0, NODES, EDGES), rng.integers(0, RELATIONS, EDGES)
    source[:HUB_EDGES], relation[:HUB_EDGES] = HUB, 0
    order = np.lexsort((target, source, relation))
    return relation[order], source[order], target[order]


def _large(edges: EdgeArrays) -> int:
    """Return the node with the most outgoing edges besides the hub: some 8,000."""
    out = np.bincount(edges[1], minlength=NODES)
    out[HUB] = 0
    return int(out.argmax())


@contextmanager
def _mapped(
    schema: Schema, types: NDArray[np.int64], edges: EdgeArrays
) -> Iterator[tuple[MemmapAdjacency, MemmapColumns]]:
    """Keep the adjacency of the graph in memory-mapped files, as a release has it; its nodes have no fields."""
    relation, source, target = edges
    blocks = edge_arrays(source, relation, target, size=EDGES)
    with tempfile.TemporaryDirectory(prefix="grasp-bench-") as folder:
        directory = Path(folder)
        build(directory, nodes=NODES, types=types.astype(np.int16), relations=RELATIONS, edges=blocks)
        yield MemmapAdjacency(directory, schema), MemmapColumns(directory, schema)


@contextmanager
def _projected(
    schema: Schema, types: NDArray[np.int64], edges: EdgeArrays
) -> Iterator[tuple[Connection | None, float]]:
    """Keep the graph in the Neo4j of `NEO4J_URL` during the benchmark; yield the connection and the edges' seconds."""
    if not settings.NEO4J_URL:
        show("NEO4J_URL is not set (make neo4j prints a value for it): Neo4j is not measured.")
        yield None, 0.0
        return
    connection = connect(Address.parse(settings.NEO4J_URL))
    names = Names(SNAPSHOT, schema)
    projection = Projection(connection, names)
    # Remove the remains of a run that was killed.
    projection.remove()
    began = time.perf_counter()
    projection.begin("benchmark")
    try:
        nodes = _Names(types).references(range(NODES))
        for first in range(0, NODES, NODES_AT_ONCE):
            part = nodes[first : first + NODES_AT_ONCE]
            projection.write_nodes(part, first)
        wholes = time.perf_counter()
        relation, source, target = edges
        done = 0
        for code in range(RELATIONS):
            of_code = np.flatnonzero(relation == code)
            for at in np.array_split(of_code, max(1, len(of_code) // EDGES_AT_ONCE)):
                projection.write_edges(code, source[at].astype(np.int32), target[at].astype(np.int32), done)
                done += len(at)
        seconds = time.perf_counter() - wholes
        projection.finish()
        show(f"Neo4j: nodes in {wholes - began:.0f} s, edges in {seconds:.0f} s.")
        yield connection, seconds
    finally:
        projection.remove()


class _Names:
    """A node store with generated names."""

    def __init__(self, types: NDArray[np.int64]) -> None:
        self._types = types

    def references(self, keys: Sequence[int]) -> list[Node]:
        """Return a node with a generated name for each key."""
        return [Node(key, f"n{key}", f"type{self._types[key]}", f"node {key}") for key in keys]


@contextmanager
def _stored(types: NDArray[np.int64], written: EdgeArrays) -> Iterator[float]:
    """Keep the graph in partitions of Postgres during the benchmark; yield the seconds that loading took."""
    relation, source, target = written
    edges = partition("search_edge", SNAPSHOT)
    began = time.perf_counter()
    with database.cursor() as cursor:
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


def _plans(rng: np.random.Generator, types: NDArray[np.int64], large: int) -> dict[str, Kind]:
    given = {"h": HUB, "l": large}

    def bind(plan: Plan) -> LinkedPlan:
        """Bind each anchor to nodes at random, the one named h to the hub, the one named l to the next largest node."""
        bindings = []
        for anchor in plan.anchors:
            drawn = (1 + rng.choice(NODES - 1, BINDINGS, replace=False)).tolist()
            keys = [given[anchor.var]] if anchor.var in given else drawn
            nodes = [Node(key, f"n{key}", f"type{types[key]}", "") for key in keys]
            bindings += [Binding(anchor.var, node, 1 - 0.01 * i) for i, node in enumerate(nodes)]
        return LinkedPlan(plan, tuple(bindings))

    def hop(source: str, to_var: str, typed: bool) -> Hop:
        if not typed:
            return Hop(source, ANY, to_var)
        return Hop(source, f"relation{rng.integers(RELATIONS)}", to_var, f"type{rng.integers(TYPES)}")

    def walk(hops: int, typed: bool, start: str = "a") -> Kind:
        chain = [start, *(f"x{i}" for i in range(1, hops)), "T"]
        pairs = list(itertools.pairwise(chain))
        anchors = (Anchor(start, start),)
        return Kind(lambda: Plan(anchors, tuple(hop(*pair, typed) for pair in pairs), Target("T")), bind)

    def join(typed: bool) -> Plan:
        hops = (hop("a", "x", typed), Hop("x", ANY, "T"), hop("b", "T", typed))
        return Plan((Anchor("a", "a"), Anchor("b", "b")), hops, Target("T"))

    of_hub, alone = Hop("h", "relation0", "T", "type1"), Hop("h", "relation0", "T")
    joined = Plan((Anchor("h", "h"), Anchor("b", "b")), (of_hub, hop("b", "T", typed=False)))
    return {
        "typed, 1 hop": walk(1, True),
        "typed, 2 hops": walk(2, True),
        "typed, 3 hops": walk(3, True),
        "any, 1 hop": walk(1, False),
        "any, 2 hops": walk(2, False),
        "any, 2 hops, from a large node": walk(2, False, "l"),
        "typed, join of 2 + 1 hops": Kind(lambda: join(True), bind),
        "any, join of 2 + 1 hops": Kind(lambda: join(False), bind),
        "a hub alone, 1 hop": Kind(lambda: Plan((Anchor("h", "h"),), (alone,)), bind),
        "a hub joined with others": Kind(lambda: joined, bind),
    }
