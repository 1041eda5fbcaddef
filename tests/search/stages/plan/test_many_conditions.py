"""Questions of more conditions than anybody asks: the first words are read, and the step says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.domain.plan import Plan
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.language.tokens import tokens
from search.stages.plan.annotate import MOST_TOKENS
from tests.search.stages.plan.demo_planners import PlannedDemo, planned

CONDITIONS = (
    "cheaper than 5", "before 2010", "in 2001", "since March 2001", "no more than 4", "more than 3 designers",
    "at least 3 designers", "the most designers", "not by Ostervik", "without Ostervik", "heavier than 3 kg",
    "between 3 and 5", "cheapest", "no designer", "from 2001 to 2005",
)  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> PlannedDemo:
    return planned("products", Path(tmp_path_factory.mktemp("products")))


@pytest.mark.parametrize("said", CONDITIONS)
@pytest.mark.parametrize("times", [24, 60])
def test_the_first_words_of_a_question_are_read_and_the_step_says_that_there_are_more(
    shop: PlannedDemo, said: str, times: int
) -> None:
    question = f"products {' '.join([said] * times)}"
    listed = shop.planner(Question(question), Limit())
    for scored in listed:
        assert Plan.parse(scored.plan.to_json(), shop.demo.schema) == scored.plan
    assert isinstance(listed, StepOutput)
    words = len(tokens(question))
    told = f"The question has {words} words; the first {MOST_TOKENS} are read, and the others count as text."
    assert listed.detail == (told if words > MOST_TOKENS else "")


@pytest.mark.parametrize(
    "said",
    [
        " ".join(f"cheaper than {price}" for price in range(40, 100)),
        " ".join(f"in {year}" for year in range(1960, 2020)),
        " and ".join(f"not in {year}" for year in range(1960, 2020)),
        " ".join(f"since {day}.03.2001" for day in range(10, 30)),
        " and ".join(f"with more than {number} designers" for number in range(60)),
        "in 2001 rated above 3 since 2002 under 50 euros " * 8,
    ],
)
def test_plans_of_many_different_conditions_can_be_written(shop: PlannedDemo, said: str) -> None:
    for scored in shop.planner(Question(f"products {said}"), Limit()):
        assert Plan.parse(scored.plan.to_json(), shop.demo.schema) == scored.plan


@pytest.mark.parametrize(
    "said",
    ["cheaper than the Godwit 2 Tent " * 60, "not by Ostervik sold in Norway made of titanium " * 20, "no brand " * 60],
)
def test_a_plan_of_many_names_can_be_written_too(shop: PlannedDemo, said: str) -> None:
    for scored in shop.planner(Question(f"products {said}"), Limit()):
        assert Plan.parse(scored.plan.to_json(), shop.demo.schema) == scored.plan


def test_the_same_condition_is_in_a_plan_once(shop: PlannedDemo) -> None:
    once, twice = (shop.best(f"products {said}").plan for said in ("under 50", "under 50 under 50"))
    assert twice.filters == once.filters
    assert len(once.filters) == 1


def test_as_many_conditions_as_people_ask_for_are_all_read(shop: PlannedDemo) -> None:
    listed = shop.planner(Question("products under 50 euros rated above 4 since 2020 not by Ostervik"), Limit())
    assert "count as text" not in getattr(listed, "detail", "")
    assert {one.field for one in listed[0].plan.filters} == {"price", "rating", "released"}
