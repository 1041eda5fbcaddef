from training.data.examples import Example
from training.evaluation.report import describe_pipeline
from training.evaluation.runner import QuestionOutcome, run

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
    assert describe_pipeline(EXAMPLES, OUTCOMES, {})["latency_ms"] == {"p50": 20.0, "p95": 29.0}


def test_a_key_that_tells_every_question_apart_is_no_slice() -> None:
    examples = [Example(str(i), "?", ("a",), "val", {"topic": str(i)}) for i in range(51)]
    outcomes = {example.id: QuestionOutcome() for example in examples}
    assert describe_pipeline(examples, outcomes, {})["slices"] == {}


def test_the_runner_asks_in_order_and_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    outcomes = run(EXAMPLES, lambda example: OUTCOMES[example.id], lambda done, total: told.append((done, total)))
    assert list(outcomes) == ["q1", "q2", "q3"]
    assert told == [(1, 3), (2, 3), (3, 3)]
