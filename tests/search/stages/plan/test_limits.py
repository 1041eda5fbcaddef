"""Quantities become filters where it is plain which field they limit, and where something is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
    Field("price", "number"), Field("weight_g", "number"), Field("rating", "number"), Field("released", "date"),
    Field("notes", "text"),
)  # fmt: skip
GRAPH = Graph(
    (
        Node(0, "n0", "lamp", "Alba", fields={"price": 20, "weight_g": 900, "rating": 4.5, "released": "2004-03-01"}),
        Node(1, "n1", "lamp", "Bruma", fields={"price": 60, "weight_g": 2500, "rating": 3.9, "released": "2004-12-31"}),
        Node(2, "n2", "lamp", "Cirro", fields={"price": 90, "weight_g": 400, "rating": 4.9, "released": "2011-01-01"}),
        Node(3, "n3", "brand", "Ostervik", fields={"founded": 1961}),
        Node(4, "n4", "brand", "Norling", fields={"founded": 1990}),
        Node(5, "n5", "country", "Norway"),
        Node(6, "n6", "lamp", "Era 2004", fields={"price": 10, "released": "2020-01-01"}),
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
        ("lamps made by Ostervik under 50 euros", [("price", "<", 50)], {"Alba"}),
        ("lamps made by Ostervik that cost more than 50", [("price", ">", 50)], {"Bruma", "Cirro"}),
        ("lamps made by Ostervik between 50 and 70 euros", [("price", "between", [50, 70])], {"Bruma"}),
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
            [("price", "<", 50), ("weight_g", "<", 1000)], {"Alba"},
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
        "lamps made by Ostervik under 5 euros",
        "lamps made by Ostervik before 1900",
        "lamps made by Ostervik with more than 2000 parts",
        "lamps made by Ostervik of type 2",
        "lamps made by Ostervik shorter than 40 cm",
        "lamps made by the brand Ostervik founded in 1961",
    ],
)
def test_what_leaves_nothing_or_speaks_of_no_field_of_the_answer_is_left_to_the_text(
    planner: Planner, text: str
) -> None:
    assert all(entry.plan.filters == () for entry in plans(planner, text))


def test_what_leaves_nothing_is_said(planner: Planner) -> None:
    listed = planner(Question("lamps made by Ostervik under 5 euros"), Limit())
    said = "“under 5 euros” (price) fits nothing that the best plan finds; it counts as text."
    assert getattr(listed, "detail", "") == said
    assert getattr(planner(Question("lamps made by Ostervik under 50 euros"), Limit()), "detail", "") == ""


def test_a_number_in_a_name_is_none_for_the_plan_that_starts_from_the_name(planner: Planner) -> None:
    for entry in plans(planner, "which brand is Era 2004 made by"):
        assert [a.text for a in entry.plan.anchors] != ["Era 2004"] or entry.plan.filters == ()


def test_the_plan_as_it_is_stays_behind_with_a_tenth_of_the_probability(planner: Planner) -> None:
    listed = plans(planner, "lamps made by Ostervik under 50 euros")
    plain = plans(planner, "lamps made by Ostervik")[0].plan
    twins = [entry for entry in listed if (entry.plan.anchors, entry.plan.hops) == (plain.anchors, plain.hops)]
    assert [bool(entry.plan.filters) for entry in twins] == [True, False]
    assert twins[0].probability == pytest.approx(9 * twins[1].probability)
    assert "50" in twins[1].plan.target.relevance_text
    assert sum(entry.probability for entry in listed) == pytest.approx(1)
    assert listed == sorted(listed, key=lambda entry: -entry.probability)


def test_switched_off_no_number_becomes_a_filter(planner: Planner) -> None:
    off = replace(planner, filters=False)
    assert all(entry.plan.filters == () for entry in plans(off, "lamps made by Ostervik under 50 euros"))
    assert Filter("T", "price", "<", 50) in best(planner, "lamps made by Ostervik under 50 euros").filters
