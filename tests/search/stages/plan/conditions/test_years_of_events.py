"""Which year a number means where several nodes of a plan have one: what is said, the nearest noun, or the answers."""

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
from tests.search.stages.plan.films import planner_of

NODES = (
    Node(0, "n0", "country", "Norway"),
    Node(1, "n1", "institution", "Fjord Institute", fields={"founded": 1951}),
    Node(2, "n2", "institution", "Skerry College", fields={"founded": 2019}),
    Node(3, "n3", "paper", "Old ice", fields={"year": 2009}),
    Node(4, "n4", "paper", "New ice", fields={"year": 2020}),
    Node(5, "n5", "paper", "Young ice", fields={"year": 2021}),
    Node(6, "n6", "dataset", "Ice Words", fields={"released": 2005}),
    Node(7, "n7", "dataset", "Snow Words", fields={"released": 2019}),
)
EDGES = (
    (1, "LIES_IN", 0), (2, "LIES_IN", 0), (3, "WRITTEN_AT", 1), (4, "WRITTEN_AT", 1), (5, "WRITTEN_AT", 2),
    (3, "USES", 6), (4, "USES", 6), (3, "USES", 7),
)  # fmt: skip
WORDED = {
    "LIES_IN": Relation("LIES_IN", "lies in", "has"),
    "WRITTEN_AT": Relation("WRITTEN_AT", "was written at", "published"),
    "USES": Relation("USES", "uses", "is used in"),
}
FIELDS = {"institution": "founded", "paper": "year", "dataset": "released"}


def _planner(folder: Path, founded: str) -> Planner:
    nodes = tuple(
        replace(one, fields={founded: one.fields["founded"]}) if one.type == "institution" else one for one in NODES
    )
    graph, fields = Graph(nodes, EDGES), FIELDS | {"institution": founded}
    plain = schema_of(graph)
    schema = replace(
        plain,
        node_types=tuple(
            replace(one, fields=(Field(fields[one.name], "number", coverage=one.count),)) if one.name in fields else one
            for one in plain.node_types
        ),
        relations=tuple(WORDED[one.name] for one in plain.relations),
    )
    return planner_of(folder, graph, schema)


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return _planner(tmp_path_factory.mktemp("events"), "founded")


@pytest.mark.parametrize(
    ("question", "limited"),  # whether the answers are limited, and by which field
    [
        # Nobody says that the institutions were founded then, and papers have a year.
        ("papers by institutions in Norway since 2018", (True, "year")),
        ("papers written at institutions in Norway that were founded since 2018", (False, "founded")),
        # A plain year belongs to the noun before it.
        ("datasets used in papers since 2018", (False, "year")),
    ],
)
def test_a_year_limits_what_happened_only_where_that_is_said(
    planner: Planner, question: str, limited: tuple[bool, str]
) -> None:
    plan = planner(Question(question), Limit())[0].plan
    assert [(one.var == "T", one.field) for one in plan.filters] == [limited]


@pytest.mark.parametrize("founded", ["founded_in", "foundedIn"])
def test_the_name_of_an_event_may_have_several_words(tmp_path: Path, founded: str) -> None:
    planner = _planner(tmp_path, founded)
    limited = []
    for text in (
        "papers by institutions in Norway since 2018",
        "papers written at institutions in Norway that were founded since 2018",
    ):
        limited += [(one.var == "T", one.field) for one in planner(Question(text), Limit())[0].plan.filters]
    assert limited == [(True, "year"), (False, founded)]
