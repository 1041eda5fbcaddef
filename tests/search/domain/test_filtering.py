"""Filters on nodes at hand mean what the brute-force matcher says they mean."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.domain.filtering import meets
from search.domain.graph import Node
from search.domain.plan import Filter
from tests import oracle

STRINGS = ("Ada", "ada", "Émile", "émILE Zola", "100%", "2001-02-03", "2001", "")
NUMBERS = (-1, 0, 2, 2.5, 2001, 0.1)
one = st.sampled_from(STRINGS) | st.sampled_from(NUMBERS)
values = one | st.lists(st.sampled_from(STRINGS), max_size=3) | st.lists(st.sampled_from(NUMBERS), max_size=3)


@st.composite
def conditions(draw: st.DrawFn) -> Filter:
    op = draw(st.sampled_from(("=", "<", "<=", ">", ">=", "between", "contains", "in")))
    value: Any = draw(st.sampled_from(STRINGS) if op == "contains" else one)
    if op == "between":
        value = draw(st.lists(one, min_size=2, max_size=2))
    elif op == "in":
        value = draw(st.lists(one, max_size=3))
    return Filter("T", draw(st.sampled_from(("name", "year", "tags"))), op, value)


@given(st.dictionaries(st.sampled_from(("year", "tags")), values), st.sampled_from(STRINGS), conditions())
@settings(max_examples=400)
def test_a_filter_means_what_the_matcher_says(fields: dict[str, Any], name: str, condition: Filter) -> None:
    node = Node(0, "n", "film", name, fields=fields)
    assert meets(node, [condition]) == oracle._passes(node, condition)


@pytest.mark.parametrize(
    ("op", "value", "met"),
    [("=", 1990, True), ("=", "1990", False), ("<", 1990, False), ("<=", 1990, True), ("between", [1980, 1990], True),
     ("in", [1, 1990], True), (">", 1989.5, True)],
)  # fmt: skip
def test_a_number_is_held_against_a_number(op: Any, value: Any, met: bool) -> None:
    assert meets(Node(0, "n", "film", "x", fields={"year": 1990}), [Filter("T", "year", op, value)]) is met


def test_every_filter_has_to_be_met_and_a_missing_field_meets_none() -> None:
    node = Node(0, "n", "film", "Heat", fields={"tags": ["Noir", "long"]})
    assert meets(node, [Filter("T", "tags", "=", "noir"), Filter("T", "name", "contains", "EA")])
    assert not meets(node, [Filter("T", "tags", "=", "noir"), Filter("T", "year", ">", 0)])
    assert meets(node, [])
