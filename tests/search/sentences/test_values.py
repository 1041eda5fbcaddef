"""Values, orders and numbers in words."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import Relation
from search.plan_words import order_words, plural
from search.sentences.values import counted, listed, order_value, types_words

RELATIONS = {"CITES": Relation("CITES", "cites", "is cited by"), "MADE_OF": Relation("MADE_OF")}
RELATIONS["HAS_CITY"] = Relation("HAS_CITY", "has the city", "lies in")
CITED_BY_PAPERS = {"rel": "CITES", "direction": "in", "to_label": "paper"}


@pytest.mark.parametrize(
    ("by", "value", "expected"),
    [
        ({"field": "founded"}, 1836, "founded 1836"),
        ({"field": "HAS_PRICE"}, None, "has price not known"),
        ({"field": "people"}, 1234567, "people 1,234,567"),
        ({"count": {"rel": "CITES", "direction": "in"}}, 14, "is cited by 14"),
        ({"count": {"rel": "CITES", "direction": "out"}}, 0, "cites 0"),
        ({"count": {"rel": "MADE_OF", "direction": "in"}}, 3, "is “made of” of 3"),
        ({"count": {"rel": "*"}}, 3, "relations 3"),
        ({"count": {"rel": "HAS_CITY", "direction": "out", "to_label": "city"}}, 71, "71 cities"),
        ({"count": CITED_BY_PAPERS | {"function": "mean", "of": "pages"}}, 12.5, "mean pages 12.5"),
    ],
)
def test_an_order_says_the_value_that_ordered(by: dict[str, Any], value: Any, expected: str) -> None:
    assert order_value({"by": by}, value, RELATIONS) == expected


@pytest.mark.parametrize(
    ("by", "direction", "limit", "expected"),
    [
        ({"field": "weight_g"}, "asc", 1, "lightest one"),
        ({"field": "weight_g"}, "desc", None, "heaviest first"),
        ({"field": "price"}, "asc", 3, "3 cheapest"),
        ({"field": "price"}, "desc", None, "most expensive first"),
        ({"field": "pages"}, "desc", None, "most pages first"),
        ({"field": "founded"}, "asc", 1, "one founded first"),
        ({"count": CITED_BY_PAPERS}, "desc", 3, "3 with the highest number of papers it is cited by"),
        ({"count": CITED_BY_PAPERS}, "asc", None, "lowest number of papers it is cited by first"),
    ],
)
def test_an_order_is_said_as_people_say_it(
    by: dict[str, Any], direction: str, limit: int | None, expected: str
) -> None:
    assert order_words({"by": by, "direction": direction, "limit": limit}, RELATIONS) == expected


def test_the_plural_of_a_type_is_regular() -> None:
    assert [plural(noun) for noun in ("box", "category", "day", "class", "brand")] == [
        "boxes", "categories", "days", "classes", "brands",
    ]  # fmt: skip


def test_numbers_of_things_begin_a_sentence() -> None:
    assert [counted(count, "papers") for count in (2, 12, 13, 1200)] == [
        "Two papers", "Twelve papers", "13 papers", "1,200 papers",
    ]  # fmt: skip
    assert [types_words(["paper", "author"], count) for count in (1, 2)] == ["paper or author", "papers or authors"]
    assert [types_words(labels, 2) for labels in ([], ["*"])] == ["things", "things"]
    assert [listed(names) for names in (["A"], ["A", "B"], ["A", "B", "C"])] == ["A", "A and B", "A, B and C"]
