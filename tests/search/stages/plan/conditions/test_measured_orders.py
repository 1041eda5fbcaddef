"""Orders by what a field measures: durations against speeds, and what is counted where a field holds the number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.domain.graph import Field, Node, Relation
from search.domain.plan import Count, Filter, Order, Plan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import planner_of

GRAPH = Graph(
    (
        Node(0, "n0", "recipe", "Alba Soup", fields={"cooking_minutes": 20, "pages": 2}),
        Node(1, "n1", "recipe", "Bruma Stew", fields={"cooking_minutes": 90, "pages": 1}),
        Node(2, "n2", "ferry", "Cirro", fields={"speed": 20, "crossing_time": 3, "weight_kg": 100}),
        Node(3, "n3", "ferry", "Dune", fields={"speed": 35, "crossing_time": 2, "weight_kg": 50}),
        Node(4, "n4", "cook", "Ann Arbor"),
        Node(5, "n5", "tool", "Erta"),
    ),
    ((0, "MADE_BY", 4), (1, "MADE_BY", 4), (0, "NEEDS", 5), (2, "MADE_BY", 4), (3, "MADE_BY", 4)),
)
FIELDS = {
    "recipe": (Field("cooking_minutes", "number", coverage=2), Field("pages", "number", coverage=2)),
    "ferry": tuple(Field(name, "number", coverage=2) for name in ("speed", "crossing_time", "weight_kg")),
}
WORDED = {"MADE_BY": Relation("MADE_BY", "is made by", "makes"), "NEEDS": Relation("NEEDS", "needs", "is needed for")}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(GRAPH)
    schema = replace(
        plain,
        node_types=tuple(replace(kind, fields=FIELDS.get(kind.name, ())) for kind in plain.node_types),
        relations=tuple(WORDED[one.name] for one in plain.relations),
    )
    folder: Path = tmp_path_factory.mktemp("recipes")
    return planner_of(folder, GRAPH, schema)


def best(planner: Planner, text: str) -> Plan:
    return planner(Question(text), Limit())[0].plan


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("quickest recipe", Order("cooking_minutes", "asc", 1)),
        ("the two fastest recipes", Order("cooking_minutes", "asc", 2)),
        ("slowest recipe", Order("cooking_minutes", "desc", 1)),
        ("shortest recipe", Order("pages", "asc", 1)),
        # A ferry has a speed: there the fastest has the most of it.
        ("fastest ferry", Order("speed", "desc", 1)),
        ("slowest ferry", Order("speed", "asc", 1)),
    ],
)
def test_what_is_fast_takes_little_time(planner: Planner, text: str, order: Order) -> None:
    assert best(planner, text).order == order


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("recipe with the fewest minutes", Order("cooking_minutes", "asc", 1)),
        ("recipe with the most pages", Order("pages", "desc", 1)),
        ("recipe with the least hours", Order("cooking_minutes", "asc", 1)),
        ("which ferry has the least weight", Order("weight_kg", "asc", 1)),
        ("ferry with the most kilos", Order("weight_kg", "desc", 1)),
        # Only ferries have a weight.
        ("what has the least weight", Order("weight_kg", "asc", 1)),
        # No field holds their number: these are counted.
        ("recipe with the most tools", Order(Count("NEEDS", "out", "tool"), "desc", 1)),
    ],
)
def test_what_a_field_holds_the_number_of_is_not_counted(planner: Planner, text: str, order: Order) -> None:
    plan = best(planner, text)
    assert plan.order == order
    assert plan.target.relevance_text == ""


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("recipes faster than 30 minutes", (Filter("T", "cooking_minutes", "<", 30),)),
        ("recipes slower than an hour", (Filter("T", "cooking_minutes", ">", 60),)),
        ("recipes quicker than 30", (Filter("T", "cooking_minutes", "<", 30),)),
        ("ferries faster than 30", (Filter("T", "speed", ">", 30),)),
    ],
)
def test_faster_than_a_number_is_less_of_a_duration(planner: Planner, text: str, filters: tuple[Filter, ...]) -> None:
    assert best(planner, text).filters == filters
