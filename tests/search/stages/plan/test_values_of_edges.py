"""Questions about the values of edges, read by the grammar over a small base; the plans are worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from search.adapters.graph_memmap import MemmapGraph
from search.domain.graph import Field, Node, NodeType, Relation, RelationType, Schema
from search.domain.plan import Plan, ScoredPlan
from search.domain.trace import Limit
from search.interfaces import GraphStore, VectorIndex
from search.stages.link import Link
from search.stages.plan.grammar import GrammarWeights
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.read import Reader
from tests import oracle
from tests.fakes import HashEncoder, MemoryVectors
from tests.graphs import Nodes
from tests.search.stages.plan.follow_up.backtracking import Backtracking
from tests.search.stages.plan.follow_up.demos import Demo, built

NAMES = {
    "lamp": ("Alba", "Breva", "Cirrus"),
    "shop": ("Harbour Shop", "Station Store", "Market Hall"),
    "person": ("Ivo Lund", "Juna Berg", "Ann Arbor"),
    "film": ("Long Winter", "Open Water"),
}
KEYS = {name: key for key, name in enumerate(name for names in NAMES.values() for name in names)}
EDGES: dict[tuple[str, str, str], dict[str, Any]] = {
    ("Alba", "SOLD_AT", "Harbour Shop"): {"price_eur": 18.5},
    ("Alba", "SOLD_AT", "Station Store"): {"price_eur": 24},
    ("Alba", "SOLD_AT", "Market Hall"): {},
    ("Breva", "SOLD_AT", "Harbour Shop"): {"price_eur": 40},
    ("Cirrus", "SOLD_AT", "Station Store"): {"price_eur": 12},
    ("Ivo Lund", "WORKED_AT", "Harbour Shop"): {"year": 2012},
    ("Juna Berg", "WORKED_AT", "Harbour Shop"): {"year": 2016},
    ("Ann Arbor", "ACTED_IN", "Long Winter"): {"role": "Nora"},
    ("Ann Arbor", "ACTED_IN", "Open Water"): {"role": "The Captain"},
    ("Juna Berg", "ACTED_IN", "Open Water"): {"role": "Nora"},
}
RELATIONS = (
    Relation("SOLD_AT", "is sold at", "sells", fields=(Field("price_eur", "number"),)),
    Relation("WORKED_AT", "worked at", "employed", fields=(Field("year", "number"),)),
    Relation("ACTED_IN", "acted in", "starred", ("plays in",), fields=(Field("role", "keyword"),)),
)
SCHEMA = Schema(
    tuple(NodeType(kind, len(names)) for kind, names in NAMES.items()),
    RELATIONS,
    (
        RelationType("lamp", "SOLD_AT", "shop", 5), RelationType("person", "WORKED_AT", "shop", 2),
        RelationType("person", "ACTED_IN", "film", 3),
    ),
)  # fmt: skip
GRAPH = oracle.Graph(
    tuple(Node(KEYS[name], name.lower(), kind, name) for kind, names in NAMES.items() for name in names),
    tuple((KEYS[source], relation, KEYS[target]) for source, relation, target in EDGES),
    {(KEYS[source], relation, KEYS[target]): fields for (source, relation, target), fields in EDGES.items() if fields},
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("shops")
    demo = built(GRAPH, SCHEMA, folder)
    stage = demo.stage
    memory = MemmapGraph(SCHEMA, stage.nodes, stage.adjacency, stage.columns, Backtracking(GRAPH))  # type: ignore[arg-type]
    return replace(demo, stage=replace(demo.stage, graph=memory))


@pytest.fixture(scope="module")
def reader(demo: Demo) -> Reader:
    stage = demo.stage
    # The vectors here mean nothing.
    weights = GrammarWeights({**GrammarWeights.read().of, "wording": 0.0})
    knowledge = Knowledge(SCHEMA, stage.encoder)
    return Reader(knowledge, stage.mentions, stage.adjacency, stage.nodes, stage.columns, stage.values, weights=weights)


def answers(plan: Plan) -> list[str]:
    """Return the names that a plan finds in its order, by trying everything."""
    store = Nodes(GRAPH, SCHEMA)
    graph = cast(GraphStore, Backtracking(GRAPH))
    link = Link(HashEncoder(dimensions=256), cast(VectorIndex, MemoryVectors({})), store, graph=graph)
    [linked] = link([ScoredPlan(plan, "user", 1.0)], Limit())
    keys = [one[0] for one in oracle.answers(GRAPH, linked)] if plan.order else sorted(oracle.candidates(GRAPH, linked))
    return [GRAPH.nodes[key].name for key in keys]


@pytest.mark.parametrize(
    ("question", "found", "where"),
    [
        ("shops that sell the Alba for less than 20 euros", ["Harbour Shop"], [("price_eur", "<", 20)]),
        ("which lamps are sold at Station Store for under 20 euros", ["Cirrus"], [("price_eur", "<", 20)]),
        ("shops that sell the Alba for over 20", ["Station Store"], [("price_eur", ">", 20)]),
        ("who worked at Harbour Shop since 2015", ["Juna Berg"], [("year", ">=", 2015)]),
        ('films in which Ann Arbor plays the role "Nora"', ["Long Winter"], [("role", "=", "Nora")]),
        ("films in which Ann Arbor plays the role the captain", ["Open Water"], [("role", "=", "the captain")]),
    ],
)
def test_a_condition_on_an_edge(
    reader: Reader, question: str, found: list[str], where: list[tuple[str, str, object]]
) -> None:
    plan = reader(question, Limit())[0].plan
    assert [(one.field, one.op, one.value) for hop in plan.hops for one in hop.where] == where
    assert answers(plan) == found
    assert Plan.parse(plan.to_json(), SCHEMA) == plan


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("which shop sells the Alba cheapest", ["Harbour Shop"]),
        ("cheapest shop that sells the Alba", ["Harbour Shop"]),
        ("the shop that sells the Alba with the highest price", ["Station Store"]),
        ("most expensive lamp that is sold at Harbour Shop", ["Breva"]),
    ],
)
def test_an_order_by_an_edge(reader: Reader, question: str, found: list[str]) -> None:
    plan = reader(question, Limit())[0].plan
    assert answers(plan) == found
    assert Plan.parse(plan.to_json(), SCHEMA) == plan


@pytest.mark.parametrize(
    "question",
    [
        "what does the Alba cost at Harbour Shop",
        "price of the Alba at Harbour Shop",
        "how much does the Alba cost at Harbour Shop",
    ],
)
def test_the_value_of_an_edge_is_asked_for(reader: Reader, question: str) -> None:
    plan = reader(question, Limit())[0].plan
    assert (plan.show, answers(plan)) == ("price_eur", ["Alba"])
    shown = plan.shown_edge
    assert shown is not None
    [hop] = plan.hops
    assert hop.joins("T", shown.var)
    assert Plan.parse(plan.to_json(), SCHEMA) == plan


def test_what_no_edge_says_stays_as_it_was(reader: Reader) -> None:
    plan = reader("shops that sell the Alba", Limit())[0].plan
    assert answers(plan) == ["Harbour Shop", "Station Store", "Market Hall"]
    assert not any(hop.where for hop in plan.hops)


@pytest.mark.parametrize(
    ("question", "words", "found", "shown"),
    [
        ("shops that sell the Alba for less than 20 euros", "and the Cirrus?", ["Station Store"], None),
        ("which shop sells the Alba cheapest", "and the Cirrus?", ["Station Store"], None),
        ("what does the Alba cost at Harbour Shop", "and the Breva?", ["Breva"], "price_eur"),
    ],
)
def test_a_follow_up_keeps_what_was_said_of_an_edge(
    reader: Reader, demo: Demo, question: str, words: str, found: list[str], shown: str | None
) -> None:
    before = reader(question, Limit())[0].plan
    read = demo.read(before, words, question)
    for one in read.plans:
        assert Plan.parse(one.plan.to_json(), SCHEMA) == one.plan
    plan = read.plans[0].plan
    assert demo.answers(plan) == found
    assert (plan.shown_edge.field if plan.shown_edge else None) == shown
