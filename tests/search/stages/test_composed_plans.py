"""What plans say by being put together, worked out by hand on a small country and asked of every engine.

A value computed from all answers, a comparison with the answers of a plan inside, a choice between two named things,
and hops that go on from the first places of an order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search.domain.graph import Field, Node, NodeType, Schema
from search.domain.plan import Plan, ScoredPlan
from search.domain.trace import Limit
from search.interfaces import GraphStore
from search.stages.link import Link
from search.stages.traverse import Traverse
from tests.engines import Engines
from tests.graphs import Nodes, mapped, schema_of
from tests.oracle import Graph
from tests.search.stages.doubles import Cosines, TriesEverything

NODES = (
    ("state", "Land", {"population": 900, "area": 40.5}), ("state", "Moor", {"population": 500}),
    ("state", "Fenn", {"population": 100, "area": 0.25}),
    ("river", "Osa", {"length": 300}), ("river", "Lim", {"length": 120}), ("river", "Ula", {"length": 300}),
    ("river", "Dra", {}), ("river", "Bek", {"length": 40}),
    ("place", "Top", {"elevation": 2_100}), ("place", "Hill", {"elevation": 700}), ("place", "Pond", {"elevation": -3}),
)  # fmt: skip
EDGES = (
    ("Osa", "runs_through", "Land"), ("Osa", "runs_through", "Moor"), ("Lim", "runs_through", "Moor"),
    ("Dra", "runs_through", "Moor"), ("Bek", "runs_through", "Fenn"), ("Ula", "runs_through", "Fenn"),
    ("Top", "lies_in", "Moor"), ("Hill", "lies_in", "Land"), ("Pond", "lies_in", "Fenn"),
)  # fmt: skip
KEYS = {name: key for key, (_, name, _) in enumerate(NODES)}
GRAPH = Graph(
    tuple(Node(key, name.lower(), kind, name, fields=fields) for key, (kind, name, fields) in enumerate(NODES)),
    tuple((KEYS[start], relation, KEYS[end]) for start, relation, end in EDGES),
)
_BARE = schema_of(GRAPH)
SCHEMA = Schema(
    node_types=tuple(
        NodeType(kind.name, kind.count, tuple(Field(field.name, "number") for field in kind.fields))
        for kind in _BARE.node_types
    ),
    relations=_BARE.relations,
    relation_types=_BARE.relation_types,
)


def of(label: str, var: str = "T") -> dict[str, Any]:
    return {"target": {"var": var, "labels": [label]}}


def rivers(of_state: str, **more: Any) -> dict[str, Any]:
    """Return the plan of the rivers that run through a state."""
    return {
        "anchors": [{"var": "s", "text": of_state, "label": "state", "ids": [of_state.lower()]}],
        "hops": [{"from": "T", "rel": "runs_through", "to_var": "s"}],
    } | of("river") | more  # fmt: skip


def first(field: str, direction: str = "desc", limit: int = 1) -> dict[str, Any]:
    return {"order": {"by": {"field": field}, "direction": direction, "limit": limit}}


def compared(op: str, inner: dict[str, Any]) -> dict[str, Any]:
    """Return the plan of the rivers whose length compares with that of what a plan inside finds."""
    against = {"var": "T", "field": "length", "op": op, "value": {"var": "r", "field": "length"}}
    return of("river") | {"anchors": [{"var": "r", "plan": inner}], "filters": [against]}


def either(*names: str, **order: Any) -> dict[str, Any]:
    """Return the plan that chooses between named rivers."""
    anchor = {"var": "T", "text": " or ".join(names), "label": "river", "ids": [name.lower() for name in names]}
    return of("river") | {"anchors": [anchor]} | first("length", **order)


# Plan, answers in any order, and value and number of nodes where something is computed.
COMPUTED: dict[str, tuple[dict[str, Any], tuple[object, int, int]]] = {
    # 300 and 120 of Osa, Lim and Dra, which has no length.
    "the sum of what a walk finds": (rivers("Moor", ask="sum", show="length"), (420, 2, 3)),
    "the mean of what a walk finds": (rivers("Moor", ask="mean", show="length"), (210, 2, 3)),
    "the least of what a walk finds": (rivers("Moor", ask="min", show="length"), (120, 2, 3)),
    "the largest of what a walk finds": (rivers("Moor", ask="max", show="length"), (300, 2, 3)),
    # 900 + 500 + 100.
    "the sum of a whole type": (of("state") | {"ask": "sum", "show": "population"}, (1_500, 3, 3)),
    "the mean of fractions": (of("state") | {"ask": "mean", "show": "area"}, (20.375, 2, 3)),
    "what is below zero": (of("place") | {"ask": "min", "show": "elevation"}, (-3, 3, 3)),
    # Osa and Ula share the first place, Lim has the second: 300 + 300 + 120.
    "the sum of the first places of an order": (
        of("river") | first("length", limit=2) | {"ask": "sum", "show": "length"}, (720, 3, 3),
    ),
    "the mean of what a filter leaves": (
        of("state") | {"filters": [{"var": "T", "field": "population", "op": "<", "value": 900}]}
        | {"ask": "mean", "show": "population"}, (300, 2, 2),
    ),
    # All rivers but those of Moor: Ula and Bek.
    "the mean of what an exclusion leaves": (
        of("river") | {"exclude": [{"anchors": [{"var": "m", "text": "Moor", "ids": ["moor"]}],
                                    "hops": [{"from": "T", "rel": "runs_through", "to_var": "m"}]}]}
        | {"ask": "mean", "show": "length"}, (170, 2, 2),
    ),
    # Only Land and Moor have a river of two states; a node is counted once however many walks reach it.
    "each node once": (
        of("state") | {"anchors": [{"var": "r", "text": "rivers", "ids": ["osa", "lim", "dra"]}],
                       "hops": [{"from": "r", "rel": "runs_through", "to_var": "T"}]}
        | {"ask": "sum", "show": "population"}, (1_400, 2, 2),
    ),
    "the rivers of the state with the highest point": (
        of("river") | {"anchors": [{"var": "s", "plan": of("state", "S") | {
            "anchors": [{"var": "p", "plan": of("place", "P") | first("elevation")}],
            "hops": [{"from": "p", "rel": "lies_in", "to_var": "S"}]}}],
            "hops": [{"from": "T", "rel": "runs_through", "to_var": "s"}]}
        | {"ask": "sum", "show": "length"}, (420, 2, 3),
    ),
    "nothing, of nodes that have no such value": (
        of("river") | {"anchors": [{"var": "T", "text": "Dra", "ids": ["dra"]}], "ask": "sum", "show": "length"},
        (None, 0, 1),
    ),
    "nothing, where nothing is found": (
        of("state") | {"filters": [{"var": "T", "field": "population", "op": ">", "value": 900}]}
        | {"ask": "max", "show": "population"}, (None, 0, 0),
    ),
}  # fmt: skip
FOUND: dict[str, tuple[dict[str, Any], list[str]]] = {
    # The longest river of Land is Osa with 300; Ula is as long.
    "longer than the longest river of a state": (compared(">", rivers("Land") | first("length")), []),
    "as long as the longest river of a state": (compared(">=", rivers("Land") | first("length")), ["Ula"]),
    "shorter than the longest river of a state": (compared("<", rivers("Moor") | first("length")), ["Lim", "Bek"]),
    # Longer than any one of Osa (300), Lim (120) and Dra.
    "longer than some river of a state": (compared(">", rivers("Moor")), ["Osa", "Ula"]),
    # Land has the most people, and Osa runs through it.
    "shorter than a river of the largest state": (
        compared("<", of("river", "R") | {
            "anchors": [{"var": "s", "plan": of("state", "S") | first("population")}],
            "hops": [{"from": "R", "rel": "runs_through", "to_var": "s"}]}), ["Lim", "Bek"],
    ),
    "the longer one of two": (either("Osa", "Lim"), ["Osa"]),
    "the shorter one of two": (either("Osa", "Lim", direction="asc"), ["Lim"]),
    "two that are equally long": (either("Osa", "Ula", "Bek"), ["Osa", "Ula"]),
    "the one of two whose length is known": (either("Dra", "Bek"), ["Bek"]),
    "the second of three": (
        either("Osa", "Lim", "Bek", limit=2), ["Osa", "Lim"],
    ),
    "the state with the highest point": (
        of("state") | {"anchors": [{"var": "p", "plan": of("place", "P") | first("elevation")}],
                       "hops": [{"from": "p", "rel": "lies_in", "to_var": "T"}]}, ["Moor"],
    ),
    "the states of the two lowest points": (
        of("state") | {"anchors": [{"var": "p", "plan": of("place", "P") | first("elevation", "asc", 2)}],
                       "hops": [{"from": "p", "rel": "lies_in", "to_var": "T"}]}, ["Land", "Fenn"],
    ),
    "the highest point of the state with the fewest people": (
        of("place") | {"anchors": [{"var": "s", "plan": of("state", "S") | first("population", "asc")}],
                       "hops": [{"from": "T", "rel": "lies_in", "to_var": "s"}]} | first("elevation"), ["Pond"],
    ),
}  # fmt: skip


@pytest.fixture
def stores(engines: Engines, tmp_path: Path, db: None) -> list[GraphStore]:
    """Return every engine over the country, and the one that tries everything."""
    postgres, neo4j = engines.over(GRAPH, SCHEMA)
    return [
        TriesEverything(GRAPH),
        postgres,
        neo4j,
        mapped(GRAPH, SCHEMA, tmp_path, postgres),
    ]


def executed(data: dict[str, Any], graph: GraphStore, rows: int = 10_000) -> Any:
    """Return the traversal of a plan as a search makes it: read, linked, executed."""
    plan = Plan.parse(data, SCHEMA)
    cosines = Cosines({}, {node.key: node.type for node in GRAPH.nodes})
    link = Link(cosines, cosines, Nodes(GRAPH, SCHEMA), graph=graph, seconds=600)
    linked = link([ScoredPlan(plan, "user", 1.0)], Limit())
    [found] = Traverse(graph, rows=rows, seconds=600)(linked, Limit())
    return found


def test_what_is_computed_by_hand_is_computed_on_every_engine(stores: list[GraphStore]) -> None:
    for said, (plan, expected) in COMPUTED.items():
        for engine in stores:
            one = executed(plan, engine).aggregate
            assert (one.value, one.nodes, one.answers, one.complete) == (*expected, True), (said, engine.backend)


def test_what_is_found_by_hand_is_found_on_every_engine(stores: list[GraphStore]) -> None:
    for said, (plan, names) in FOUND.items():
        for engine in stores:
            found = [NODES[candidate.key][1] for candidate in executed(plan, engine).candidates]
            assert sorted(found) == sorted(names), (said, engine.backend)


def test_what_is_computed_is_computed_before_the_candidates_are_cut(stores: list[GraphStore]) -> None:
    plan = rivers("Moor", ask="sum", show="length")
    for engine in stores[1:]:
        found = executed(plan, engine, rows=1)
        assert (len(found.candidates), found.truncated) == (1, True), engine.backend
        assert (found.aggregate.value, found.aggregate.answers, found.aggregate.complete) == (420, 3, True)
