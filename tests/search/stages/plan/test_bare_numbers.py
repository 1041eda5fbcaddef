"""Comparisons with a number of which nothing is said (*under 50*): the field that such a number limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from search.adapters import field_values, values_memmap
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.search.stages.plan.films import answers
from tests.search.stages.plan.test_limits import GRAPH, best, planner, plans, stocked

__all__ = ["planner"]


@pytest.mark.parametrize(
    ("text", "filters", "found"),
    [
        # The lamps cost 10, 20, 60 and 90, weigh 400, 900 and 2,500 g and are rated 3.9, 4.5 and 4.9.
        ("lamps made by Ostervik under 50", [("price_eur", "<", 50)], {"Alba"}),
        ("lamps under 50", [("price_eur", "<", 50)], {"Alba", "Era 2004"}),
        ("lamps under 50 please", [("price_eur", "<", 50)], {"Alba", "Era 2004"}),
        ("anything below 15", [("price_eur", "<", 15)], {"Era 2004"}),
        ("lamps cheaper than 70 made by Ostervik", [("price_eur", "<", 70)], {"Alba", "Bruma"}),
        ("lamps between 50 and 70", [("price_eur", "between", [50, 70])], {"Bruma"}),
        # No price lies on both sides of 1,000, but weights do.
        ("lamps over 1000", [("weight_g", ">", 1000)], {"Bruma"}),
        ("lamps heavier than 1000", [("weight_g", ">", 1000)], {"Bruma"}),
    ],
)  # fmt: skip
def test_a_number_alone_limits_a_price_or_what_it_divides(
    planner: Planner, text: str, filters: list[tuple[str, str, object]], found: set[str]
) -> None:
    plan = best(planner, text)
    assert [(f.field, f.op, f.value) for f in plan.filters] == filters
    assert answers(GRAPH, plan) == found
    assert plan.target.relevance_text == ""


@pytest.mark.parametrize(
    "text",
    [
        "lamps made by Ostervik for people under 50",
        "lamps made by Ostervik with more than 50 parts",
        "lamps made by Ostervik warmer than 50",
        "brands based in Norway over 50",
    ],
)
def test_an_age_a_count_and_another_property_are_none(planner: Planner, text: str) -> None:
    assert best(planner, text).filters == ()


def test_a_number_that_divides_two_fields_is_two_plans_and_neither_is_sure(tmp_path: Path) -> None:
    planner = stocked(tmp_path, [{"watts": 5, "lumens": 90}, {"watts": 60, "lumens": 20}], "watts", "lumens")
    listed = planner(Question("lamps of Ostervik under 50"), Limit())[:2]
    assert {one.plan.filters[0].field for one in listed} == {"watts", "lumens"}
    assert 0.2 < listed[1].probability <= listed[0].probability < 0.7


def test_a_price_that_a_number_does_not_divide_may_be_meant_too(planner: Planner) -> None:
    # Every lamp costs less than 1,000, and two of three weigh less than 1,000 g.
    listed = plans(planner, "lamps made by Ostervik under 1000")[:2]
    assert {one.plan.filters[0].field for one in listed} == {"price_eur", "weight_g"}
    assert max(one.probability for one in listed) < 0.8


def test_a_price_is_surer_than_another_field(planner: Planner) -> None:
    price, weight = plans(planner, "lamps under 50")[0], plans(planner, "lamps over 1000")[0]
    named = plans(planner, "lamps heavier than 1000")[0]
    assert weight.probability < price.probability < named.probability


@pytest.mark.parametrize(
    ("text", "op"), [("lamps under 50 watts", "<"), ("lamps of at most 60 watts", "<="), ("lamps with 60 watts", "=")]
)
def test_a_number_that_a_field_holds_is_still_compared(tmp_path: Path, text: str, op: str) -> None:
    # There are lamps of just 50 and of just 60 watts, so both numbers are values as well.
    lamps = [{"watts": 5}, {"watts": 50}, {"watts": 60}]
    (tmp_path / "values").mkdir()
    planner = stocked(tmp_path, lamps, "watts")
    nodes = [Node(key, f"n{key:04}", "lamp", f"lamp no{key}", fields=own) for key, own in enumerate(lamps)]
    field_values.build(tmp_path / "values", planner.schema, nodes)
    planner = replace(planner, values=values_memmap.MemmapValues(tmp_path / "values", planner.schema))
    [condition] = best(planner, text).filters
    assert (condition.field, condition.op) == ("watts", op)
