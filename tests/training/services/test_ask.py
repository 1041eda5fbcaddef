"""The outcome of a search, read from its run and its steps."""

from search.domain.trace import Step
from search.models import SearchRun
from training.services.evaluations.ask import outcome_of


def run() -> SearchRun:
    return SearchRun(status=SearchRun.Status.DONE, seconds=0.5, answer={"ranking": {"ids": ["a"], "scores": [1.0]}})


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
