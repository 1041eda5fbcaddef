"""A small graph of films with everything that makes planning hard, and a planner over it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as Folder
from typing import Any

from search.adapters import adjacency_memmap, columns_memmap, mentions_memmap
from search.domain.evidence import Path
from search.domain.graph import Node, NodeType, Relation, Schema
from search.domain.linking import Binding, LinkedPlan, Traversal
from search.domain.plan import Plan
from search.domain.ranking import Ranking, by_key
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests import oracle
from tests.fakes import HashEncoder
from tests.graphs import Nodes, schema_of, write_adjacency

NAMES: tuple[tuple[str, str], ...] = (
    ("film", "Alpha Rising"), ("film", "Beta Falls"), ("film", "Gamma Light"), ("film", "What?"), ("film", "1984"),
    ("film", "The Kid"), ("film", "Heat"), ("film", "Omega"),
    ("person", "Ann Arbor"), ("person", "Bob Berg"), ("person", "Cy Clone"), ("person", "Dee Dee"),
    ("genre", "drama"), ("genre", "comedy"),
    ("year", "1999"), ("year", "2004"),
    ("tag", "kid"), ("tag", "heat"), ("tag", "ann arbor"), ("tag", "film"),
)  # fmt: skip
FACTS: tuple[tuple[str, str, str], ...] = (
    ("Alpha Rising", "DIRECTED_BY", "Ann Arbor"), ("Beta Falls", "DIRECTED_BY", "Ann Arbor"),
    ("Gamma Light", "DIRECTED_BY", "Bob Berg"), ("What?", "DIRECTED_BY", "Bob Berg"),
    ("Heat", "DIRECTED_BY", "Dee Dee"),
    ("Alpha Rising", "STARRED_ACTORS", "Cy Clone"), ("Gamma Light", "STARRED_ACTORS", "Cy Clone"),
    ("Beta Falls", "STARRED_ACTORS", "Dee Dee"), ("Omega", "STARRED_ACTORS", "Dee Dee"),
    ("Heat", "STARRED_ACTORS", "Ann Arbor"),
    ("Alpha Rising", "HAS_GENRE", "drama"), ("Beta Falls", "HAS_GENRE", "comedy"),
    ("Gamma Light", "HAS_GENRE", "drama"),
    ("What?", "HAS_GENRE", "comedy"), ("Heat", "HAS_GENRE", "drama"), ("Omega", "HAS_GENRE", "drama"),
    ("Alpha Rising", "RELEASE_YEAR", "1999"), ("Beta Falls", "RELEASE_YEAR", "2004"), ("What?", "RELEASE_YEAR", "1999"),
    ("Heat", "RELEASE_YEAR", "1999"), ("Omega", "RELEASE_YEAR", "2004"), ("1984", "RELEASE_YEAR", "1999"),
    ("The Kid", "RELEASE_YEAR", "2004"), ("Gamma Light", "RELEASE_YEAR", "1984"),
    ("The Kid", "HAS_TAGS", "kid"), ("Beta Falls", "HAS_TAGS", "heat"), ("Omega", "HAS_TAGS", "ann arbor"),
    ("Gamma Light", "HAS_TAGS", "film"),
)  # fmt: skip


class OracleGraph:
    """The engine that tries everything (interfaces.GraphStore, `execute` alone); it keeps the plans it was given."""

    backend = "oracle"

    def __init__(self, graph: oracle.Graph) -> None:
        self._graph = graph
        self.asked: list[Plan] = []

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        self.asked.append(linked.plan)
        found = Ranking.of(oracle.candidates(self._graph, linked), by_key).candidates
        return Traversal(linked.index, self.backend, found[:rows], len(found) > rows)

    def paths(
        self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1
    ) -> dict[int, list[tuple[Path, ...]]]:
        raise NotImplementedError


def graph_of(names: Sequence[tuple[str, str]], facts: Sequence[tuple[str, str, str]]) -> oracle.Graph:
    """Return a graph; the end of a fact is the first node of that name."""
    nodes = tuple(Node(key, f"n{key:03}", kind, name) for key, (kind, name) in enumerate(names))
    keys = {name: key for key, (_, name) in reversed(list(enumerate(names)))}
    return oracle.Graph(nodes, tuple((keys[source], relation, keys[target]) for source, relation, target in facts))


def planner_of(folder: Folder, graph: oracle.Graph, schema: Schema | None = None, **options: Any) -> Planner:
    """Build the memory-mapped indexes of a graph and return a planner over them, with vectors that mean nothing."""
    schema = schema or schema_of(graph)
    (folder / "adjacency").mkdir()
    (folder / "mentions").mkdir()
    (folder / "columns").mkdir()
    write_adjacency(graph, schema, folder / "adjacency")
    columns_memmap.build(folder / "columns", schema, graph.nodes)
    mentions_memmap.build(folder / "mentions", ((node.key, node.name, False) for node in graph.nodes))
    return Planner(
        mentions=mentions_memmap.MemmapMentions(folder / "mentions"),
        adjacency=adjacency_memmap.MemmapAdjacency(folder / "adjacency", schema),
        encoder=HashEncoder(dimensions=4096),
        nodes=Nodes(graph, schema),
        schema=schema,
        columns=columns_memmap.MemmapColumns(folder / "columns", schema),
        **options,
    )


def answers(graph: oracle.Graph, plan: Plan) -> set[str]:
    """Return the names that a plan finds, by the matcher that tries everything."""
    by_id = {node.id: node for node in graph.nodes}
    bindings = tuple(Binding(a.var, by_id[node_id], 1.0) for a in plan.anchors for node_id in a.ids)
    return {graph.nodes[key].name for key in oracle.candidates(graph, LinkedPlan(plan, bindings))}


FILMS = graph_of(NAMES, FACTS)
SCHEMA = schema_of(FILMS)


def described() -> Schema:
    """Return the schema of the films with wordings and aliases."""
    worded = {"DIRECTED_BY": Relation("DIRECTED_BY", "was made by", "made", ("helmed",))}
    types = {"film": NodeType("film", 8, aliases=("movie", "picture"))}
    return Schema(
        tuple(types.get(kind.name, kind) for kind in SCHEMA.node_types),
        tuple(worded.get(relation.name, relation) for relation in SCHEMA.relations),
        SCHEMA.relation_types,
    )
