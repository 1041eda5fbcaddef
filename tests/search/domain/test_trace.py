"""A trace says what every step did, also when it failed."""

from __future__ import annotations

import time

import pytest

from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Step, StepOutput, StepRole, Trace
from tests.rankings import ranked


class Engine:
    backend = "an engine"

    def __call__(self) -> Ranking:
        return ranked({1: 0.5})


def test_a_step_is_timed_and_its_output_and_backend_recorded() -> None:
    trace = Trace()
    result = trace.step("search", "text list", Engine())
    assert result.keys == (1,)
    (step,) = trace.steps
    assert (step.name, step.backend, step.status) == ("search", "an engine", "ok")
    assert step.output == {"total": 1, "keys": [1], "scores": [0.5]}
    assert step.seconds > 0


def test_a_methods_backend_is_that_of_its_object() -> None:
    trace = Trace()
    trace.step("search", "text list", Engine().__call__)
    assert trace.steps[0].backend == "an engine"


def test_a_step_that_fails_is_recorded_with_its_reason_and_raises() -> None:
    def fail() -> None:
        raise StageError("traverse", "the engine is down")

    trace = Trace()
    with pytest.raises(StageError):
        trace.step("traverse", "graph", fail)
    assert [(step.status, step.detail) for step in trace.steps] == [("failed", "the engine is down")]


def test_an_unexpected_error_is_recorded_and_raised() -> None:
    trace = Trace()
    with pytest.raises(ZeroDivisionError):
        trace.step("plan", "plan", lambda: 1 / 0)
    assert trace.steps[0].status == "failed"


def test_a_steps_note_becomes_its_detail_and_status() -> None:
    trace = Trace()
    assert trace.step("lists", "other", lambda: StepOutput([Ranking()], "Nothing was found for 'x'.", "degraded")) == [
        Ranking()
    ]
    step = trace.steps[0]
    assert (step.status, step.detail) == ("degraded", "Nothing was found for 'x'.")
    assert step.output == [{"total": 0, "keys": [], "scores": []}]


def test_a_skipped_stage_is_recorded_with_why() -> None:
    trace = Trace()
    trace.skip("rerank", "rerank", "not configured")
    assert [(s.name, s.status, s.detail) for s in trace.steps] == [("rerank", "skipped", "not configured")]


def test_the_newest_step_can_be_marked_as_degraded_and_is_shown_again() -> None:
    seen: list[tuple[str, str]] = []
    trace = Trace(observe=lambda step: seen.append((step.name, step.status)))
    trace.step("plan", "other", lambda: None)
    trace.degrade("text only")
    assert seen == [("plan", "ok"), ("plan", "degraded")]
    assert trace.steps[0].detail == "text only"


def test_the_output_of_a_step_is_that_of_its_newest_run() -> None:
    trace = Trace()
    trace.step("fuse", "other", lambda: 1)
    trace.step("fuse", "other", lambda: 2)
    assert (trace.output("fuse"), trace.output("explain")) == (2, None)


def test_a_trace_is_read_back_as_it_was_written() -> None:
    trace = Trace()
    trace.step("search", "text list", Engine())
    trace.skip("rerank", "rerank", "not configured")
    assert Trace.from_json(trace.to_json()).steps == trace.steps


def test_a_trace_of_version_1_gets_the_roles_that_its_names_had() -> None:
    step = {"name": "rescore", "backend": "", "status": "ok", "seconds": 0.1, "detail": "", "output": None}
    old = {"version": 1, "steps": [step, step | {"name": "vss"}, step | {"name": "whatever"}]}
    assert [step.role for step in Trace.from_json(old).steps] == ["graph list", "text list", "other"]


@pytest.mark.parametrize(
    ("role", "given", "said"),
    [
        ("graph list", Ranking(), "it gives GraphRanking, not Ranking"),
        ("text list", [], "it gives Ranking or Fusion, not list"),
        ("fusion", None, "it gives Fusion, not NoneType"),
        ("plan", Ranking(), "it gives a list of ScoredPlan"),
        ("explain", ["text"], "it gives a list of Result"),
    ],
)
def test_a_step_that_gives_something_else_than_its_role_says_is_refused(
    role: StepRole, given: object, said: str
) -> None:
    trace = Trace()
    with pytest.raises(TypeError, match=said):
        trace.step("odd", role, lambda: given)
    assert (trace.steps[0].status, trace.steps[0].output) == ("failed", None)


def test_a_trace_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 99"):
        Trace.from_json({"version": 99, "steps": [Step("x", "other").to_json()]})


def test_a_limit_counts_down_to_zero_and_no_further() -> None:
    limit = Limit.seconds(10)
    assert 9 < limit.remaining() <= 10
    assert Limit.seconds(-1).remaining() == 0
    with pytest.raises(DeadlineExceeded):
        Limit.seconds(0).check("plan")


def test_a_cancelled_run_is_cancelled_even_when_its_time_has_run_out() -> None:
    with pytest.raises(SearchCancelled):
        Limit(time.monotonic() - 1, lambda: True).check("plan")


def test_a_share_of_a_limit_ends_earlier_and_is_cancelled_with_it() -> None:
    wanted = [True]
    limit = Limit.seconds(10, lambda: not wanted[0])
    assert limit.share(0.5).remaining() <= 5
    wanted[0] = False
    with pytest.raises(SearchCancelled):
        limit.share(0.5).check("plan")


def test_a_share_of_no_limit_is_no_limit() -> None:
    assert Limit().share(0.5).remaining() == float("inf")
