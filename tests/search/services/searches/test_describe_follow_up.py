"""Every part that a follow-up kept or changed has words, in the plan before and in the plan after."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from search.domain.plan import Plan
from search.domain.plan.changes import plan_changes
from search.services.searches.describe_follow_up import part_words
from tests.search.domain.shop import SHOP

ASKED: dict[str, tuple[dict[str, Any], str]] = {
    "the answers": ({}, ""),
    "a field": ({"show": "price"}, "shows price"),
    "their number": ({"ask": "how many"}, "how many there are"),
    "both": ({"ask": "how many", "show": "price"}, "how many there are, shows price"),
    "a sum": ({"ask": "sum", "show": "price"}, "total price"),
    "a mean": ({"ask": "mean", "show": "price"}, "mean price"),
    "the least": ({"ask": "min", "show": "price"}, "lowest price"),
    "the largest": ({"ask": "max", "show": "price"}, "highest price"),
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(ASKED, ASKED)))
def test_what_is_asked_has_words_before_and_after(before: str, after: str) -> None:
    target = {"target": {"var": "T", "labels": ["product"]}}
    earlier, later = (Plan.parse(target | ASKED[one][0], SHOP) for one in (before, after))
    asked = [change for change in plan_changes(earlier, later) if change.part == "ask"]
    if before == after == "the answers":
        assert asked == []
        return
    [change] = asked
    assert (change.was is None, change.at is None) == (before == "the answers", after == "the answers")
    told = [
        part_words(plan.to_json(), "ask", at) if at else ""
        for plan, at in ((earlier, change.was), (later, change.at))
    ]  # fmt: skip
    assert told == [ASKED[before][1], ASKED[after][1]]
    assert (change.kind == "kept") == (before == after)
