"""What the subject of a verb did not do, what it does to things, and months in words, read off the facts below."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.adapters import field_values, values_memmap
from search.bindings import own_bindings
from search.domain.graph import Field, Node
from search.domain.linking import LinkedPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests import oracle
from tests.graphs import schema_of
from tests.search.stages.plan.films import answers, graph_of, planner_of

FILMS = graph_of(
    (
        ("film", "Alpha Rising"), ("film", "Beta Falls"), ("film", "Gamma Light"),
        ("person", "Ann Arbor"), ("person", "Bob Berg"), ("tag", "direct"),
    ),
    (
        ("Alpha Rising", "WRITTEN_BY", "Ann Arbor"), ("Alpha Rising", "DIRECTED_BY", "Ann Arbor"),
        ("Beta Falls", "WRITTEN_BY", "Ann Arbor"), ("Beta Falls", "DIRECTED_BY", "Bob Berg"),
        ("Gamma Light", "WRITTEN_BY", "Bob Berg"), ("Gamma Light", "DIRECTED_BY", "Bob Berg"),
        # What is called as the verb is not meant by it.
        ("Alpha Rising", "HAS_TAGS", "direct"),
    ),
)  # fmt: skip
VOLUMES = oracle.Graph(
    (
        Node(0, "v0", "volume", "Ice", fields={"year": 2019, "month": "August"}),
        Node(1, "v1", "volume", "Snow", fields={"year": 2020, "month": "November"}),
        Node(2, "v2", "volume", "Hail", fields={"year": 2020, "month": "August"}),
    ),
    (),
)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(tmp_path_factory.mktemp("films"), FILMS)


@pytest.mark.parametrize(
    "text",
    [
        "films Ann Arbor wrote but didnt direct",
        "films Ann Arbor wrote but didn't direct",
        "films Ann Arbor wrote and did not direct",
        "films ann arbor wrote but never directed",
    ],
)
def test_what_a_name_did_not_do_another_may_have_done(films: Planner, text: str) -> None:
    best = films(Question(text), Limit())[0].plan
    linked = LinkedPlan(best, own_bindings(best, films.nodes))
    names = {FILMS.nodes[key].name for key in oracle.candidates(FILMS, linked)}
    assert (names, best.target.relevance_text) == ({"Beta Falls"}, "")


def test_a_month_in_words_beside_a_field_of_years_is_a_filter(tmp_path: Path) -> None:
    plain = schema_of(VOLUMES)
    fields = (Field("year", "number", coverage=3), Field("month", "keyword", coverage=3))
    schema = replace(plain, node_types=tuple(replace(one, fields=fields) for one in plain.node_types))
    planner = planner_of(tmp_path, VOLUMES, schema)
    (tmp_path / "values").mkdir()
    field_values.build(tmp_path / "values", schema, VOLUMES.nodes)
    planner = replace(planner, values=values_memmap.MemmapValues(tmp_path / "values", schema))
    best = planner(Question("volumes from august 2020"), Limit())[0].plan
    assert (answers(VOLUMES, best), best.target.relevance_text) == ({"Hail"}, "")
