"""A date within a year, in a field that holds years: the year is selected, and the plan is not sure of it."""

from __future__ import annotations

import pytest

from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.search.stages.plan.conditions.test_denied import GRAPH, planner_in
from tests.search.stages.plan.films import answers


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_in(tmp_path_factory.mktemp("parts_of_years"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("papers published in May 2018", {"New ice"}),
        ("papers from may 2018", {"New ice"}),
        ("papers before May 2018", {"Old ice"}),
        ("papers published between May 2017 and July 2019", {"New ice"}),
    ],
)
def test_the_month_is_not_expressed_by_a_field_of_years(planner: Planner, text: str, names: set[str]) -> None:
    first = planner(Question(text), Limit())[0]
    assert answers(GRAPH, first.plan) == names
    assert first.probability < 0.5


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("papers published in 2018", {"New ice"}),
        ("papers published in the 1990s", {"Old ice"}),
        ("datasets edited in July 2018", {"Ice Words"}),
    ],
)
def test_whole_years_and_fields_of_dates_are_sure(planner: Planner, text: str, names: set[str]) -> None:
    first = planner(Question(text), Limit())[0]
    assert answers(GRAPH, first.plan) == names
    assert first.probability > 0.9
