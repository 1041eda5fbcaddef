"""Values, orders and numbers in words."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import Relation
from search.plan_words import plural
from search.sentences.values import counted, listed, order_text, order_value, types_words

RELATIONS = {"CITES": Relation("CITES", "cites", "is cited by"), "MADE_OF": Relation("MADE_OF")}


@pytest.mark.parametrize(
    ("by", "value", "expected"),
    [
        ({"field": "founded"}, 1836, "founded 1836"),
        ({"field": "HAS_PRICE"}, None, "has price not known"),
        ({"field": "people"}, 1234567, "people 1,234,567"),
        ({"count": {"rel": "CITES", "direction": "in"}}, 14, "is cited by 14"),
        ({"count": {"rel": "CITES", "direction": "out"}}, 0, "cites 0"),
        ({"count": {"rel": "MADE_OF", "direction": "in"}}, 3, "made of (incoming) 3"),
        ({"count": {"rel": "*"}}, 3, "edges 3"),
    ],
)
def test_an_order_says_the_value_that_ordered(by: dict[str, Any], value: Any, expected: str) -> None:
    assert order_value({"by": by}, value, RELATIONS) == expected


def test_an_order_by_a_count_reads_as_people_say_it() -> None:
    by = {"count": {"rel": "CITES", "direction": "in", "to_label": "paper"}}
    assert order_text({"by": by, "direction": "desc", "limit": 3}, RELATIONS) == (
        "number of papers it is cited by, most first, 3 places"
    )
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
