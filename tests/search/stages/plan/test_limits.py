"""Quantities become filters where it is plain which field they limit, and where something is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search.domain.graph import Field, Node
from search.domain.plan import Filter, Plan, ScoredPlan
from search.domain.plan.checks import misfits
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import answers, planner_of

FIELDS = (
    Field("price_eur", "number"), Field("weight_g", "number"), Field("rating", "number"), Field("released", "date"),
    Field("notes", "text"),
)  # fmt: skip
GRAPH = Graph(
    (
        Node(0, "n0", "lamp", "Alba",
             fields={"price_eur": 20, "weight_g": 900, "rating": 4.5, "released": "2004-03-01"}),
        Node(1, "n1", "lamp", "Bruma",
             fields={"price_eur": 60, "weight_g": 2500, "rating": 3.9, "released": "2004-12-31"}),
        Node(2, "n2", "lamp", "Cirro",
             fields={"price_eur": 90, "weight_g": 400, "rating": 4.9, "released": "2011-01-01"}),
        Node(3, "n3", "brand", "Ostervik", fields={"founded": 1961}),
        Node(4, "n4", "brand", "Norling", fields={"founded": 1990}),
        Node(5, "n5", "country", "Norway"),
        Node(6, "n6", "lamp", "Era 2004", fields={"price_eur": 10, "released": "2020-01-01"}),
    ),
    (
        (0, "made by", 3), (1, "made by", 3), (2, "made by", 3), (3, "based in", 5), (4, "based in", 5),
        (6, "made by", 4),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(GRAPH)
    kinds = {"lamp": FIELDS, "brand": (Field("founded", "number"),)}
    schema = replace(
        plain, node_types=tuple(replace(kind, fields=kinds.get(kind.name, ())) for kind in plain.node_types)
    )
    folder: Path = tmp_path_factory.mktemp("lamps")
    return planner_of(folder, GRAPH, schema)


def best(planner: Planner, text: str) -> Plan:
    return plans(planner, text)[0].plan


def plans(planner: Planner, text: str) -> list[ScoredPlan]:
    return planner(Question(text), Limit())


@pytest.mark.parametrize(
    ("text", "filters", "found"),
    [
        ("lamps made by Ostervik under 50 euros", [("price_eur", "<", 50)], {"Alba"}),
        ("lamps made by Ostervik that cost more than 50", [("price_eur", ">", 50)], {"Bruma", "Cirro"}),
        ("lamps made by Ostervik between 50 and 70 euros", [("price_eur", "between", [50, 70])], {"Bruma"}),
        ("lamps made by Ostervik lighter than 1 kg", [("weight_g", "<", 1000)], {"Alba", "Cirro"}),
        ("lamps made by Ostervik that weigh at least 2.5 kg", [("weight_g", ">=", 2500)], {"Bruma"}),
        ("lamps made by Ostervik rated 4 or higher", [("rating", ">=", 4)], {"Alba", "Cirro"}),
        ("lamps made by Ostervik in 2004", [("released", ">=", "2004"), ("released", "<", "2005")], {"Alba", "Bruma"}),
        ("lamps made by Ostervik after 2004", [("released", ">=", "2005")], {"Cirro"}),
        ("lamps made by Ostervik before 2011", [("released", "<", "2011")], {"Alba", "Bruma"}),
        ("lamps made by Ostervik until 2011", [("released", "<", "2012")], {"Alba", "Bruma", "Cirro"}),
        ("brands based in Norway founded before 1970", [("founded", "<", 1970)], {"Ostervik"}),
        (
            "lamps made by Ostervik under 50 euros lighter than 1 kg",
            [("price_eur", "<", 50), ("weight_g", "<", 1000)], {"Alba"},
        ),
    ],
)  # fmt: skip
def test_a_quantity_limits_the_field_that_it_speaks_of(
    planner: Planner, text: str, filters: list[tuple[str, str, object]], found: set[str]
) -> None:
    plan = best(planner, text)
    assert [(f.var, f.field, f.op, f.value) for f in plan.filters] == [("T", *limit) for limit in filters]
    assert misfits(plan, planner.schema) == []
    # The matcher that tries everything knows what a filter is; what the filter says is no text any more.
    assert answers(GRAPH, plan) == found
    assert plan.target.relevance_text == ""


@pytest.mark.parametrize(
    "text",
    [
        "lamps made by Ostervik",
        "lamps made by Ostervik with more than 2000 parts",
        "lamps made by Ostervik of type 2",
        "lamps made by Ostervik shorter than 40 cm",
        "lamps made by Ostervik under 50 dollars",
        "lamps made by Ostervik that cost less than $50",
        "lamps made by Ostervik that cost less than USD 50",
        "lamps made by Ostervik that cost less than 50 yen",
        "lamps made by Ostervik that cost less than 50 cents",
    ],
)
def test_what_speaks_of_no_field_of_the_answer_is_left_to_the_text(planner: Planner, text: str) -> None:
    assert best(planner, text).filters == ()


def test_what_speaks_of_a_neighbour_limits_the_neighbour(planner: Planner) -> None:
    plan = best(planner, "lamps made by the brand Ostervik founded in 1961")
    assert [(one.var, one.field, one.value) for one in plan.filters] == [(plan.anchors[0].var, "founded", 1961)]


def test_a_year_that_is_a_node_too_is_the_number_of_a_condition(tmp_path: Path) -> None:
    plain = Graph((*GRAPH.nodes, Node(7, "y1", "year", "2011")), (*GRAPH.edges, (2, "shown in", 7)))
    schema = schema_of(plain)
    kinds = {"lamp": FIELDS}
    schema = replace(schema, node_types=tuple(replace(k, fields=kinds.get(k.name, ())) for k in schema.node_types))
    plan = best(planner_of(tmp_path, plain, schema), "lamps made by Ostervik before 2011")
    assert [(one.field, one.op, one.value) for one in plan.filters] == [("released", "<", "2011")]
    assert plan.target.relevance_text == ""


@pytest.mark.parametrize("text", ["lamps made by Ostervik under 5 euros", "lamps made by Ostervik before 1900"])
def test_a_number_that_fits_nothing_is_a_filter_where_the_plan_says_all_the_rest(planner: Planner, text: str) -> None:
    [only] = planner(Question(text), Limit())
    assert (len(only.plan.filters), only.plan.target.relevance_text) == (1, "")


def test_an_amount_in_another_currency_is_text(planner: Planner) -> None:
    assert "50 dollars" in best(planner, "lamps made by Ostervik under 50 dollars").target.relevance_text


def test_a_price_that_names_no_currency_is_used(tmp_path: Path) -> None:
    plan = best(stocked(tmp_path, [{"price": 20}, {"price": 60}], "price"), "lamps of Ostervik under $50")
    assert [(f.field, f.op, f.value) for f in plan.filters] == [("price", "<", 50)]


@pytest.mark.parametrize("name", ["price_usd", "usd_price", "priceUSD", "priceUsd"])
def test_a_currency_is_found_wherever_the_name_of_a_field_has_it(tmp_path: Path, name: str) -> None:
    planner = stocked(tmp_path, [{name: 20}, {name: 60}], name)
    assert [f.field for f in best(planner, "lamps of Ostervik under 50 dollars").filters] == [name]
    assert best(planner, "lamps of Ostervik under 50 euros").filters == ()


def stocked(folder: Path, fields: list[dict[str, Any]], *numbers: str) -> Planner:
    """Return a planner over lamps with these fields, all made by one brand."""
    lamps = tuple(Node(key, f"n{key:04}", "lamp", f"lamp no{key}", fields=own) for key, own in enumerate(fields))
    brand = Node(len(lamps), "z", "brand", "Ostervik")
    graph = Graph((*lamps, brand), tuple((lamp.key, "made by", brand.key) for lamp in lamps))
    plain = schema_of(graph)
    known = tuple(Field(name, "number", coverage=len(lamps)) for name in numbers)
    kinds = tuple(replace(kind, fields=known if kind.name == "lamp" else ()) for kind in plain.node_types)
    return planner_of(folder, graph, replace(plain, node_types=kinds))


def test_all_nodes_that_a_plan_finds_are_asked_not_the_first_by_id(tmp_path: Path) -> None:
    planner = stocked(tmp_path, [{"weight_g": 900}] * 600 + [{"weight_g": 10}], "weight_g")
    listed = planner(Question("lamps of Ostervik lighter than 50 g"), Limit())
    assert listed[0].plan.filters == (Filter("T", "weight_g", "<", 50),)


def test_a_number_in_a_name_is_none_for_the_plan_that_starts_from_the_name(planner: Planner) -> None:
    for entry in plans(planner, "which brand is Era 2004 made by"):
        assert [a.text for a in entry.plan.anchors] != ["Era 2004"] or entry.plan.filters == ()
