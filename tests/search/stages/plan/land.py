"""A small base of states, cities and rivers, made up, with its graph and schema."""

from __future__ import annotations

from search.domain.graph import Field, Node, NodeType, Relation, RelationType, Schema
from tests import oracle

STATES = {"Arvonia": (100, 50), "Belmora": (300, 20), "Corvia": (200, 80), "Dalmora": (50, 10)}
"""Population and area."""
CITIES = {
    "Astead": ("Arvonia", 10), "Aymouth": ("Arvonia", 40), "Bexley": ("Belmora", 90), "Cranford": ("Corvia", 60),
    "Cypress Falls": ("Corvia", 20), "Czerny": ("Corvia", 5),
}  # fmt: skip
RIVERS = {"Lorne": (900, ["Arvonia", "Belmora", "Corvia"]), "Medwin": (500, ["Belmora"]), "Sheaf": (100, ["Corvia"])}
BORDERS = [("Arvonia", "Belmora"), ("Belmora", "Corvia"), ("Corvia", "Dalmora")]
CAPITALS = {"Arvonia": "Aymouth", "Belmora": "Bexley", "Corvia": "Cranford"}


def land_graph() -> tuple[oracle.Graph, Schema]:
    """Return the graph and the schema of the base."""
    rows = [
        *(("state", name, {"population": people, "area": area}) for name, (people, area) in STATES.items()),
        *(("city", name, {"population": people}) for name, (_, people) in CITIES.items()),
        *(("river", name, {"length": length}) for name, (length, _) in RIVERS.items()),
    ]
    rows.sort(key=lambda row: f"{row[0]}:{row[1]}".encode())
    nodes = tuple(
        Node(key, f"{kind}:{name}", kind, name, fields=fields) for key, (kind, name, fields) in enumerate(rows)
    )
    key_of = {node.name: node.key for node in nodes}
    edges = [
        *((key_of[name], "LOCATED_IN", key_of[state]) for name, (state, _) in CITIES.items()),
        *((key_of[name], "FLOWS_THROUGH", key_of[state]) for name, (_, states) in RIVERS.items() for state in states),
        *((key_of[one], "BORDERS", key_of[other]) for one, other in BORDERS),
        *((key_of[state], "HAS_CAPITAL", key_of[city]) for state, city in CAPITALS.items()),
    ]
    schema = Schema(
        (
            NodeType("city", len(CITIES), (Field("population", "number", coverage=6),)),
            NodeType("river", len(RIVERS), (Field("length", "number", coverage=3),)),
            NodeType("state", len(STATES), tuple(Field(one, "number", coverage=4) for one in ("population", "area"))),
        ),
        (
            Relation("LOCATED_IN", "is located in", "has the city"),
            Relation("FLOWS_THROUGH", "flows through", "has the river", ("runs through",)),
            Relation("BORDERS", "borders", "borders"),
            Relation("HAS_CAPITAL", "has the capital", "is the capital of", ("capital",)),
        ),
        (
            RelationType("city", "LOCATED_IN", "state", 6), RelationType("river", "FLOWS_THROUGH", "state", 5),
            RelationType("state", "BORDERS", "state", 3), RelationType("state", "HAS_CAPITAL", "city", 3),
        ),
    )  # fmt: skip
    graph = oracle.Graph(nodes, tuple(edges))
    return graph, schema
