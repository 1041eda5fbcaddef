"""The outcome of a search, read from its run and its steps."""

import pytest

from search.domain.plan import Anchor, Hop, Plan, ScoredPlan
from search.domain.trace import Step
from search.models import SearchRun
from training.services.evaluations.ask import outcome_of


def run() -> SearchRun:
    return SearchRun(status=SearchRun.Status.DONE, seconds=0.5, answer={"ranking": {"ids": ["a"], "scores": [1.0]}})


WALK = Plan((Anchor("a", "Ada"),), (Hop("a", "made", "T"),))


def planned(plan: Plan, probability: float) -> Step:
    return Step("plan", "plan", output=[ScoredPlan(plan, "schema", probability).to_json()])


@pytest.mark.parametrize(
    ("plan", "told", "probability"),
    [
        (WALK, {}, 0.05),
        (WALK, {"probability": 0.48}, 0.48),
        (Plan(), {"probability": 0.48}, 0.48),
        (Plan(), {}, None),
    ],
    ids=["plan", "plan, ranker", "text, ranker", "text"],
)
def test_the_probability_is_that_of_the_first_result_if_a_ranker_tells_it(
    plan: Plan, told: dict[str, float], probability: float | None
) -> None:
    """Pages show no probability of a plan that leaves all to text."""
    outcome = outcome_of(run(), [planned(plan, 0.05), Step("rerank", "rerank", output={"rankings": {}, **told})])
    assert outcome.probability == probability
    assert outcome.plan_shape == ("1 hop, 1 anchor" if plan is WALK else "text only")


def test_without_a_result_there_is_no_probability_of_the_first() -> None:
    empty = SearchRun(status=SearchRun.Status.DONE, answer={"ranking": {"ids": [], "scores": []}})
    assert outcome_of(empty, [Step("rerank", "rerank", output={"probability": 0.4})]).probability is None


def test_an_outcome_says_whether_its_plan_is_called_almost_surely_right() -> None:
    """The steps of a search that has just ended hold keys, not the ids of rows."""
    keys = {"ranking": {"keys": [7], "scores": [1.0]}}
    assert outcome_of(run(), [Step("fuse", "fusion", output=keys | {"leads": True})]).leads is True
    assert outcome_of(run(), [Step("fuse", "fusion", output=keys | {"leads": False})]).leads is False
    assert outcome_of(run(), [Step("fuse", "fusion", output=keys | {"leads": True, "surely": False})]).leads is False


def test_a_pipeline_that_fuses_nothing_cannot_say_so() -> None:
    assert outcome_of(run(), []).leads is None
    assert outcome_of(run(), [Step("fuse", "fusion", output=None)]).leads is None
    assert outcome_of(run(), [Step("fuse", "fusion", output=["unexpected"])]).leads is None
