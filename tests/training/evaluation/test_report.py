from dataclasses import replace

import pytest
from scipy.stats import binomtest

from search.domain.plan import Anchor, Filter, Hop, Plan
from training.data.examples import Example
from training.evaluation.measures import MEASURES
from training.evaluation.report import describe_pipeline
from training.evaluation.runner import QuestionOutcome, plan_shape

EXAMPLES = [
    Example("q1", "one", ("a",), "val", {"hops": "1"}),
    Example("q2", "two", ("b",), "val", {"hops": "2"}),
    Example("q3", "three", ("c",), "val", {"hops": "2"}),
]
OUTCOMES = {
    "q1": QuestionOutcome((("a", 1.0),), seconds=0.010),
    "q2": QuestionOutcome((), seconds=0.030),
    "q3": QuestionOutcome(error="Postgres: gone"),
}


def test_answered_empty_and_error_are_three_states() -> None:
    part = describe_pipeline(EXAMPLES, OUTCOMES, {"pipeline": "x"})
    assert (part["answered"], part["empty"], part["errors"]) == (1, 1, 1)


def test_percentages_are_over_all_questions_asked() -> None:
    part = describe_pipeline(EXAMPLES, OUTCOMES, {})
    assert part["metrics"] == dict.fromkeys(MEASURES, 33.33)
    # Wilson's intervals of 1 of 1 and 0 of 2, in percent.
    assert part["slices"]["hops"] == {
        "1": {"questions": 1, "metrics": dict.fromkeys(MEASURES, 100.0), "intervals": {"H@1": [20.65, 100.0]}},
        "2": {"questions": 2, "metrics": dict.fromkeys(MEASURES, 0.0), "intervals": {"H@1": [0.0, 65.76]}},
    }


def test_latency_leaves_errors_out() -> None:
    assert describe_pipeline(EXAMPLES, OUTCOMES, {})["latency_ms"] == {"p50": 20.0, "p95": 29.0, "stages": {}}


def test_latency_is_told_by_role_too() -> None:
    """Two searches planned, in 4 and 6 ms, and one of them fused; what failed takes no part."""
    outcomes = {
        "q1": QuestionOutcome((("a", 1.0),), 0.010, stages={"plan": 0.004, "fusion": 0.001}),
        "q2": QuestionOutcome((), 0.030, stages={"plan": 0.006}),
        "q3": QuestionOutcome(error="gone", stages={"plan": 9.0}),
    }
    assert describe_pipeline(EXAMPLES, outcomes, {})["latency_ms"]["stages"] == {
        "plan": {"p50": 5.0, "p95": 5.9}, "fusion": {"p50": 1.0, "p95": 1.0},
    }  # fmt: skip


def test_the_shown_probability_is_held_against_the_first_answer() -> None:
    """0.99 and right, 0.95 and wrong: their bin says 0.97 and 0.5. 0.25 and wrong: 0.25 and 0."""
    outcomes = {
        "q1": QuestionOutcome((("a", 1.0), ("z", 0.5)), probability=0.99),
        "q2": QuestionOutcome((("a", 1.0), ("b", 0.5)), probability=0.95),
        "q3": QuestionOutcome((), probability=0.25),
    }
    assert describe_pipeline(EXAMPLES, outcomes, {})["calibration"] == {
        "error": 0.3967,  # (2 * 0.47 + 1 * 0.25) / 3
        "questions": 3,
        "bins": [
            {"from": 0.2, "to": 0.2667, "questions": 1, "probability": 0.25, "right": 0.0, "interval": [0.0, 0.7935]},
            {"from": 0.9333, "to": 1.0, "questions": 2, "probability": 0.97, "right": 0.5,
             "interval": [0.0945, 0.9055]},
        ],
    }  # fmt: skip
    assert describe_pipeline(EXAMPLES, OUTCOMES, {})["calibration"] is None


def test_a_question_without_a_shown_probability_is_not_calibrated() -> None:
    """The plan of the second leaves all to text; of the first a trained ranker has told the probability."""
    outcomes = {
        "q1": QuestionOutcome((("a", 1.0),), probability=1.0, plan_shape="text only"),
        "q2": QuestionOutcome((("a", 1.0),), plan_shape="text only"),
        "q3": QuestionOutcome(error="gone"),
    }
    told = describe_pipeline(EXAMPLES, outcomes, {})["calibration"]
    assert (told["error"], told["questions"]) == (0.0, 1)


def test_wrong_first_answers_that_were_called_almost_surely_right_are_counted_and_named() -> None:
    outcomes = {
        "q1": QuestionOutcome((("a", 1.0),), leads=True),
        "q2": QuestionOutcome((("a", 1.0), ("b", 0.5)), leads=True),
        "q3": QuestionOutcome((("a", 1.0),), leads=False),
    }
    told = describe_pipeline(EXAMPLES, outcomes, {})["sure"]
    assert (told["questions"], told["wrong"], told["per_100"], told["first"]) == (2, 1, 33.33, ["q2"])
    # Wilson's interval of 1 of 3, by scipy.
    by_scipy = binomtest(1, 3).proportion_ci(method="wilson")
    assert told["interval"] == pytest.approx([100 * by_scipy.low, 100 * by_scipy.high], abs=0.01)
    assert describe_pipeline(EXAMPLES, OUTCOMES, {})["sure"] is None


def test_stored_answers_of_a_model_are_counted() -> None:
    outcomes = {**OUTCOMES, "q1": QuestionOutcome(cached_calls=2), "q2": QuestionOutcome(cached_calls=1)}
    assert describe_pipeline(EXAMPLES, outcomes, {})["cached_model_calls"] == 3


def test_a_key_that_tells_every_question_apart_is_no_slice() -> None:
    examples = [Example(str(i), "?", ("a",), "val", {"topic": str(i)}) for i in range(51)]
    outcomes = {example.id: QuestionOutcome() for example in examples}
    assert describe_pipeline(examples, outcomes, {})["slices"] == {}


def test_answer_types_plan_shapes_and_lost_answers_are_told() -> None:
    outcomes = {
        "q1": replace(OUTCOMES["q1"], plan_shape="1 hop, 1 anchor"),
        "q2": replace(OUTCOMES["q2"], plan_shape="2 hops, 1 anchor", lost_at="linked"),
        "q3": replace(OUTCOMES["q3"], lost_at="fused"),
    }
    part = describe_pipeline(EXAMPLES, outcomes, {}, answer_types={"q1": "film", "q2": "film"})
    slices = {key: {value: one["questions"] for value, one in of.items()} for key, of in part["slices"].items()}
    # A question without a plan, or without a known answer, is in no slice of that key.
    assert slices == {
        "answer_type": {"film": 2}, "plan_shape": {"1 hop, 1 anchor": 1, "2 hops, 1 anchor": 1},
        "hops": {"1": 1, "2": 2},
    }  # fmt: skip
    assert part["lost_at"] == {"linked": 1, "fused": 1}
    assert describe_pipeline(EXAMPLES, OUTCOMES, {})["lost_at"] is None


def test_a_question_may_bring_its_own_answer_type() -> None:
    examples = [Example("q1", "one", ("a",), "val", {"answer_type": "named by hand"})]
    part = describe_pipeline(examples, {"q1": OUTCOMES["q1"]}, {}, answer_types={"q1": "film"})
    assert list(part["slices"]["answer_type"]) == ["named by hand"]


@pytest.mark.parametrize(
    ("plan", "shape"),
    [
        (Plan(), "text only"),
        (Plan((Anchor("T", "a lighthouse", match_mode="doc"),)), "text only"),
        (Plan((Anchor("T", "Amber Road"),)), "entity itself"),
        (Plan((Anchor("a", "Ada"),), (Hop("a", "made", "T"),)), "1 hop, 1 anchor"),
        (
            Plan(
                (Anchor("a", "Ada"), Anchor("b", "Bo")), (Hop("a", "made", "T"), Hop("b", "made", "T")),
                filters=(Filter("T", "year", ">", 1999),),
            ),
            "2 hops, 2 anchors, filter",
        ),
    ],
)  # fmt: skip
def test_the_shape_of_a_plan(plan: Plan, shape: str) -> None:
    assert plan_shape(plan) == shape
