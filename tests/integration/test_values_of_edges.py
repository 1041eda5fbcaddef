"""Conditions on edges, orders by them and what they show: hand-computed, and alike on every engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, EdgeField, Exclusion, Filter, Hop, Order, Plan, Target
from search.domain.trace import Limit
from search.interfaces import GraphStore
from tests import oracle
from tests.engines import Engines
from tests.graphs import mapped, schema_of
from tests.oracle import Graph

pytestmark = pytest.mark.django_db

ALBA, BREVA, CIRRUS, HARBOUR, STATION, MARKET, IVO, JUNA = range(8)
SHOPS = Graph(
    (
        Node(ALBA, "alba", "lamp", "Alba"),
        Node(BREVA, "breva", "lamp", "Breva"),
        Node(CIRRUS, "cirrus", "lamp", "Cirrus"),
        Node(HARBOUR, "harbour", "shop", "Harbour Shop"),
        Node(STATION, "station", "shop", "Station Store"),
        Node(MARKET, "market", "shop", "Market Hall"),
        Node(IVO, "ivo", "person", "Ivo"),
        Node(JUNA, "juna", "person", "Juna"),
    ),
    (
        (ALBA, "sold_at", HARBOUR), (ALBA, "sold_at", STATION), (ALBA, "sold_at", MARKET),
        (BREVA, "sold_at", HARBOUR), (CIRRUS, "sold_at", STATION), (CIRRUS, "sold_at", MARKET),
        (IVO, "works_at", HARBOUR), (JUNA, "works_at", HARBOUR), (JUNA, "works_at", STATION), (IVO, "knows", JUNA),
    ),
    {
        (ALBA, "sold_at", HARBOUR): {"price": 18.5, "note": "Last pieces"},
        (ALBA, "sold_at", STATION): {"price": 24},
        (BREVA, "sold_at", HARBOUR): {"price": 40},
        (CIRRUS, "sold_at", STATION): {"price": 12},
        (CIRRUS, "sold_at", MARKET): {"price": [9, 15]},
        (IVO, "works_at", HARBOUR): {"since": "2012-04", "role": "Cashier"},
        (JUNA, "works_at", HARBOUR): {"since": "2015-09-01", "role": "Manager"},
        (JUNA, "works_at", STATION): {"since": "2020"},
        (IVO, "knows", JUNA): {"since": "1999"},
    },
)  # fmt: skip


def linked(bound: dict[str, int], plan: Plan) -> LinkedPlan:
    anchors = tuple(Anchor(var, SHOPS.nodes[key].name) for var, key in bound.items())
    return LinkedPlan(replace(plan, anchors=anchors), tuple(Binding(v, SHOPS.nodes[k], 1.0) for v, k in bound.items()))


def sold(*where: Filter) -> Hop:
    return Hop("a", "sold_at", "T", "shop", "out", where)


def price(op: str, value: object = None) -> Filter:
    return Filter("", "price", op, value)  # type: ignore[arg-type]


ALBA_SOLD = {"a": ALBA}
# Each with the answers that a reader of SHOPS comes to by hand, in their order.
BY_HAND: dict[str, tuple[LinkedPlan, list[int]]] = {
    "shops that sell the Alba for less than 20": (linked(ALBA_SOLD, Plan(hops=(sold(price("<", 20)),))), [HARBOUR]),
    "an edge without the field does not meet a comparison": (
        linked(ALBA_SOLD, Plan(hops=(sold(price(">", 0)),))), [HARBOUR, STATION],
    ),
    "nor does it have the value that is denied": (
        linked(ALBA_SOLD, Plan(hops=(sold(price("!=", 24)),))), [HARBOUR, MARKET],
    ),
    "where the field is missing": (linked(ALBA_SOLD, Plan(hops=(sold(price("missing")),))), [MARKET]),
    "any item of a list will do": (
        linked({"a": CIRRUS}, Plan(hops=(sold(price("between", [14, 20])),))), [MARKET],
    ),
    "one edge meets all conditions": (
        linked(ALBA_SOLD, Plan(hops=(sold(price("<", 20), Filter("", "note", "contains", "LAST")),))), [HARBOUR],
    ),
    "who worked at Harbour Shop since 2015": (
        linked({"a": HARBOUR}, Plan(hops=(Hop("T", "works_at", "a", where=(Filter("", "since", ">=", "2015"),)),))),
        [JUNA],
    ),
    "a value without regard to case": (
        linked({"a": HARBOUR}, Plan(hops=(Hop("T", "works_at", "a", where=(Filter("", "role", "in", ["cashier"]),)),))),
        [IVO],
    ),
    "any relation with such a value": (
        linked({"a": IVO}, Plan(hops=(Hop("a", "*", "T", where=(Filter("", "since", "<", "2000"),)),))), [JUNA],
    ),
    "lamps that are sold for less than 20 where Ivo works": (
        linked(
            {"a": IVO},
            Plan(hops=(Hop("a", "works_at", "x", "shop"), Hop("T", "sold_at", "x", where=(price("<", 20),)))),
        ),
        [ALBA],
    ),
    "a circle closes only over such an edge": (
        linked(
            {"a": JUNA, "b": ALBA},
            Plan(hops=(Hop("a", "works_at", "T"), Hop("b", "sold_at", "T", where=(price(">", 20),)))),
        ),
        [STATION],
    ),
    "shops where Juna works without a lamp for more than 30": (
        linked(
            {"b": JUNA},
            Plan(hops=(Hop("b", "works_at", "T"),), exclude=(
                Exclusion(hops=(Hop("x", "sold_at", "T", where=(price(">", 30),)),)),), target=Target("T", ("shop",))),
        ),
        [STATION],
    ),
    "which shop sells the Alba cheapest": (
        linked(ALBA_SOLD, Plan(hops=(sold(),), order=Order(EdgeField("price", "a"), "asc", 1))), [HARBOUR],
    ),
    "by price, the dearest first, without a price last": (
        linked(ALBA_SOLD, Plan(hops=(sold(),), order=Order(EdgeField("price", "a"), "desc"))),
        [STATION, HARBOUR, MARKET],
    ),
    "the cheapest of those above 20": (
        linked(ALBA_SOLD, Plan(hops=(sold(price(">", 20)),), order=Order(EdgeField("price", "a"), "asc", 1))),
        [STATION],
    ),
    "of several edges and of lists the first value in the order counts": (
        linked({}, Plan(
            hops=(Hop("T", "sold_at", "x", "shop"),), target=Target("T", ("lamp",)),
            order=Order(EdgeField("price", "x"), "asc", 2),
        )),
        [CIRRUS, ALBA],
    ),
    "only edges of a match are compared": (
        linked({"a": HARBOUR}, Plan(
            hops=(Hop("T", "sold_at", "a"),), target=Target("T", ("lamp",)),
            order=Order(EdgeField("price", "a"), "desc"),
        )),
        [BREVA, ALBA],
    ),
    "dates in their order": (
        linked({"a": HARBOUR}, Plan(
            hops=(Hop("T", "works_at", "a"),), order=Order(EdgeField("since", "a"), "desc", 1),
        )),
        [JUNA],
    ),
}  # fmt: skip


@pytest.fixture
def every_engine(engines: Engines, tmp_path: Path) -> list[GraphStore]:
    schema = schema_of(SHOPS)
    postgres, neo4j = engines.over(SHOPS, schema)
    memory = mapped(SHOPS, schema, tmp_path, postgres)
    return [memory, postgres, neo4j]


def test_conditions_and_orders_written_by_hand(every_engine: list[GraphStore]) -> None:
    wrong = []
    for name, (plan, expected) in BY_HAND.items():
        if plan.plan.order is not None:
            assert [answer[0] for answer in oracle.answers(SHOPS, plan)] == expected, name
        else:
            assert sorted(oracle.candidates(SHOPS, plan)) == sorted(expected), name
        for engine in every_engine:
            found = [candidate.key for candidate in engine.execute(plan, Limit()).candidates]
            if found != expected:
                wrong.append((name, engine.backend, found))
            bare = replace(plan, plan=replace(plan.plan, order=None))
            if plan.plan.anchors and set(engine.paths(bare, range(8), Limit())) != set(oracle.candidates(SHOPS, bare)):
                wrong.append((name, engine.backend, "paths"))
    assert wrong == []


def test_the_value_of_an_edge_is_shown(every_engine: list[GraphStore]) -> None:
    costs = linked({"T": ALBA, "a": HARBOUR}, Plan(hops=(Hop("T", "sold_at", "a"),), show="price", show_edge="a"))
    anywhere = linked({"T": CIRRUS}, Plan(hops=(Hop("T", "sold_at", "x", "shop"),)))
    since = linked({"a": HARBOUR}, Plan(hops=(Hop("T", "works_at", "a"),)))
    asked = [
        (costs, EdgeField("price", "a"), [ALBA], {ALBA: [18.5]}),
        (anywhere, EdgeField("price", "x"), [CIRRUS], {CIRRUS: [9, 12, 15]}),
        (since, EdgeField("since", "a"), [IVO, JUNA, ALBA], {IVO: ["2012-04"], JUNA: ["2015-09-01"], ALBA: []}),
    ]
    for plan, of, keys, expected in asked:
        assert {key: oracle.edge_values(SHOPS, plan, of).get(key, []) for key in keys} == expected
        for engine in every_engine:
            assert engine.edge_values(plan, of, keys, Limit()) == expected, engine.backend


def test_plans_of_named_relations_run_on_the_mapped_graph(every_engine: list[GraphStore]) -> None:
    memory = every_engine[0]
    backends = {name: memory.execute(plan, Limit()).backend for name, (plan, _) in BY_HAND.items()}
    assert [name for name, backend in backends.items() if backend != "memory"] == ["any relation with such a value"]
