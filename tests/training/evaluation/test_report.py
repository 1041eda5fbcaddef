from training.data.examples import Example
from training.evaluation.report import describe_pipeline
from training.evaluation.runner import QuestionOutcome

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
    assert part["metrics"] == {"H@1": 33.33, "H@5": 33.33, "R@20": 33.33, "MRR": 33.33}
    assert part["slices"]["hops"] == {
        "1": {"questions": 1, "metrics": {"H@1": 100.0, "H@5": 100.0, "R@20": 100.0, "MRR": 100.0}},
        "2": {"questions": 2, "metrics": {"H@1": 0.0, "H@5": 0.0, "R@20": 0.0, "MRR": 0.0}},
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


def test_the_first_plans_probability_is_held_against_the_first_answer() -> None:
    """0.95 and right, 0.91 and wrong: their bin says 0.93 and 0.5. 0.25 and wrong: 0.25 and 0."""
    outcomes = {
        "q1": QuestionOutcome((("a", 1.0), ("z", 0.5)), probability=0.95),
        "q2": QuestionOutcome((("a", 1.0), ("b", 0.5)), probability=0.91),
        "q3": QuestionOutcome((), probability=0.25),
    }
    assert describe_pipeline(EXAMPLES, outcomes, {})["calibration"] == {
        "error": 0.37,  # (2 * 0.43 + 1 * 0.25) / 3
        "bins": [
            {"from": 0.2, "to": 0.3, "questions": 1, "probability": 0.25, "right": 0.0},
            {"from": 0.9, "to": 1.0, "questions": 2, "probability": 0.93, "right": 0.5},
        ],
    }
    assert describe_pipeline(EXAMPLES, OUTCOMES, {})["calibration"] is None


def test_stored_answers_of_a_model_are_counted() -> None:
    outcomes = {**OUTCOMES, "q1": QuestionOutcome(cached_calls=2), "q2": QuestionOutcome(cached_calls=1)}
    assert describe_pipeline(EXAMPLES, outcomes, {})["cached_model_calls"] == 3


def test_a_key_that_tells_every_question_apart_is_no_slice() -> None:
    examples = [Example(str(i), "?", ("a",), "val", {"topic": str(i)}) for i in range(51)]
    outcomes = {example.id: QuestionOutcome() for example in examples}
    assert describe_pipeline(examples, outcomes, {})["slices"] == {}
