"""Comparisons behind a turning word: their opposites, in fields of dates and in fields that hold years as numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.domain.graph import Field, Node, Relation
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import answers, planner_of

NODES = (
    Node(0, "n0", "institution", "Fjord Institute", fields={"founded": 1951}),
    Node(1, "n1", "institution", "Skerry College", fields={"founded": 2018}),
    Node(2, "n2", "institution", "Tarn School", fields={"founded": 2020}),
    Node(3, "n3", "paper", "Old ice", fields={"year": 1995}),
    Node(4, "n4", "paper", "New ice", fields={"year": 2018}),
    Node(5, "n5", "paper", "Young ice", fields={"year": 2021}),
    Node(6, "n6", "dataset", "Ice Words", fields={"last_edited": "2018-07-09"}),
    Node(7, "n7", "dataset", "Snow Words", fields={"last_edited": "2021-11-30"}),
)
EDGES = ((3, "WRITTEN_AT", 0), (4, "WRITTEN_AT", 1), (5, "WRITTEN_AT", 2), (3, "USES", 6), (4, "USES", 7))
WORDED = {
    "WRITTEN_AT": Relation("WRITTEN_AT", "was written at", "published"),
    "USES": Relation("USES", "uses", "is used in"),
}
FIELDS = {
    "institution": Field("founded", "number", coverage=3),
    "paper": Field("year", "number", coverage=3),
    "dataset": Field("last_edited", "date", coverage=2),
}
GRAPH = Graph(NODES, EDGES)


def planner_in(folder: Path) -> Planner:
    plain = schema_of(GRAPH)
    kinds = tuple(replace(one, fields=(FIELDS[one.name],)) for one in plain.node_types)
    schema = replace(plain, node_types=kinds, relations=tuple(WORDED[one.name] for one in plain.relations))
    return planner_of(folder, GRAPH, schema)


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_in(tmp_path_factory.mktemp("denied"))


def found(planner: Planner, text: str) -> set[str]:
    return answers(GRAPH, planner(Question(text), Limit())[0].plan)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("papers not published after May 2018", {"Old ice", "New ice"}),
        ("papers not published before May 2018", {"New ice", "Young ice"}),
        ("papers not published in 2018", {"Old ice", "Young ice"}),
        # The year itself is left, in a field of the answers as in one of nodes beside them.
        ("papers not published since 2018", {"Old ice", "New ice"}),
        ("papers written at institutions not founded since 2018", {"Old ice", "New ice"}),
        ("papers not published since May 2018", {"Old ice", "New ice"}),
        ("datasets not edited since 2018", {"Ice Words"}),
        ("datasets not edited since July 2018", {"Ice Words"}),
    ],
)
def test_a_denied_comparison_is_its_opposite(planner: Planner, text: str, names: set[str]) -> None:
    assert found(planner, text) == names


@pytest.mark.parametrize(
    "text",
    [
        "papers not published between January 2018 and March 2020",
        "papers not published in the 1990s",
        "papers written at institutions not founded in the 1950s",
        # A year is a range of dates.
        "datasets not edited in 2018",
        "papers using datasets not edited in 2018",
    ],
)
def test_a_denied_range_limits_nothing(planner: Planner, text: str) -> None:
    """No filter says that a value lies outside a range, and the range itself would be the opposite of what is asked."""
    assert {filters for one in planner(Question(text), Limit()) for filters in one.plan.filters} == set()


def test_what_has_none_in_a_range_is_without_nodes_in_it(planner: Planner) -> None:
    assert found(planner, "papers without a dataset edited in 2018") == {"New ice", "Young ice"}
