"""Names in lists, topics, and short forms of typing; what is right is read in the demo data."""

from __future__ import annotations

import pytest

from search.domain.question import Question
from search.domain.trace import Limit
from tests.search.stages.plan.demo_planners import PlannedDemo, planned


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PlannedDemo]:
    return {name: planned(name, tmp_path_factory.mktemp(name)) for name in ("products", "papers")}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tents w/o aluminium", "tents without aluminium"),
        ("sth made of cork", "something made of cork"),
        ("things w/oak", "things with oak"),
        ("the w/o sign in 24w/7", "the without sign in 24w/7"),
    ],
)
def test_short_forms_of_typing_are_read_as_what_they_stand_for(
    demos: dict[str, PlannedDemo], text: str, meant: str
) -> None:
    assert demos["products"].planner.reader.worded(text).text.split() == meant.split()


def test_an_expression_of_a_description_that_is_a_value_selects(demos: dict[str, PlannedDemo]) -> None:
    listed = demos["papers"].planner(Question("keeping frost off the blades of wind turbines"), Limit())
    assert any(one.plan.filters for one in listed)
