"""A superlative before the name of a kind is said of what bears the noun; what the kind holds besides comes next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.domain.graph import Field, Node, Relation
from search.domain.plan import Filter
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import planner_of

PRICES = {"Alba Tent": 300, "Bruma 2 Tent": 250, "Cirro Tarp": 90, "Storm Pegs, Tent Set": 20, "Dune Boot": 80,
          "Elm Balm": 9}  # fmt: skip
NODES = (
    *(
        Node(key, f"n{key}", "product", name, fields={"price": price})
        for key, (name, price) in enumerate(PRICES.items())
    ),
    Node(6, "n6", "category", "Tents"),
    Node(7, "n7", "category", "Boots"),
)
GRAPH = Graph(NODES, (*((key, "IN_CATEGORY", 6) for key in range(4)), (4, "IN_CATEGORY", 7), (5, "IN_CATEGORY", 7)))


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    plain = schema_of(GRAPH)
    price = (Field("price", "number", coverage=6),)
    schema = replace(
        plain,
        node_types=tuple(replace(one, fields=price if one.name == "product" else ()) for one in plain.node_types),
        relations=(Relation("IN_CATEGORY", "is in category", "contains"),),
    )
    folder: Path = tmp_path_factory.mktemp("tents")
    return planner_of(folder, GRAPH, schema)


def names(planner: Planner, text: str) -> list[list[str]]:
    """Return the names that each of the first two plans selects by; none if it takes the whole kind."""
    listed = [entry.plan for entry in planner(Question(text), Limit())[:2]]
    assert all(plan.order is not None for plan in listed[:1])
    return [[name for one in plan.filters if isinstance(one, Filter) for name in one.value or ()] for plan in listed]


def test_the_noun_behind_a_superlative_is_the_head_of_names(planner: Planner) -> None:
    assert names(planner, "cheapest tents") == [["Alba Tent", "Bruma 2 Tent"], []]
    assert names(planner, "the two cheapest tents")[0] == ["Alba Tent", "Bruma 2 Tent"]


@pytest.mark.parametrize(
    "text",
    [
        "the three cheapest tents",  # only two names say tent
        "cheapest boots",  # one name does not show that names say it
        "tents by price",
    ],
)
def test_where_names_do_not_say_the_noun_the_whole_kind_is_meant(planner: Planner, text: str) -> None:
    assert not any(one.filters for one in (entry.plan for entry in planner(Question(text), Limit())))
