"""bpref and judged@k against pytrec_eval, trec_eval's definition by hand, and marks of results."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval

from training.data.examples import Example
from training.evaluation.judged import judged_part, judged_values
from training.evaluation.runner import QuestionOutcome

# Judged: a and c are answers, b and d are not; x and y nobody judged.
EXAMPLE = Example("q 1", "Which?", ("a", "c"), grades={"a": 3, "b": 0, "c": 2, "d": 1})


def test_bpref_and_judged_by_hand() -> None:
    """Two answers and two judged others: each wrong one before an answer costs it a half; unjudged ones cost nothing.

    In b x a y d c, one wrong node stands before a and two before c: bpref = (1/2 + 0) / 2. Four of six are judged.
    """
    values = judged_values([EXAMPLE], {"q 1": ["b", "x", "a", "y", "d", "c"]})
    assert values["bpref"].tolist() == [25.0]
    assert values["judged@5"].tolist() == [60.0]
    assert values["judged@10"] == pytest.approx([400 / 6])
    assert judged_values([EXAMPLE], {"q 1": ["x", "a", "y", "c"]})["bpref"].tolist() == [100.0]
    assert judged_values([EXAMPLE], {})["bpref"].tolist() == [0.0]


def test_bpref_of_random_rankings_equals_pytrec_evals() -> None:
    rng = np.random.default_rng(3)
    nodes = [f"n{number}" for number in range(60)]
    examples, rankings = [], {}
    for number in range(40):
        graded = rng.choice(nodes, 20, replace=False).tolist()
        grades = {node: int(rng.integers(0, 4)) for node in graded}
        answers = tuple(node for node, grade in grades.items() if grade >= 2) or (graded[0],)
        examples.append(Example(f"q{number}", "Which?", answers, grades=grades))
        rankings[f"q{number}"] = rng.permutation(nodes)[:30].tolist()
    qrels = {one.id: {node: int(node in one.answers) for node in one.grades} for one in examples}
    run = {name: {node: 1.0 / rank for rank, node in enumerate(found, 1)} for name, found in rankings.items()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}).evaluate(run)
    ours = judged_values(examples, rankings)
    assert ours["bpref"] == pytest.approx([100 * theirs[one.id]["bpref"] for one in examples])
    for k in (5, 10, 20):
        by_hand = [100 * np.mean([node in qrels[one.id] for node in rankings[one.id][:k]]) for one in examples]
        assert ours[f"judged@{k}"] == pytest.approx(by_hand)


def test_only_questions_with_judgements_count() -> None:
    plain = Example("q2", "Who?", ("z",))
    outcomes = {"q 1": QuestionOutcome((("a", 2.0), ("x", 1.0))), "q2": QuestionOutcome((("z", 1.0),))}
    assert judged_part([plain], outcomes) is None
    part = judged_part([EXAMPLE, plain], outcomes)
    assert part is not None
    assert (part["questions"], part["judgements"]) == (1, 4)
    assert part["metrics"] == {"bpref": 50.0, "judged@5": 50.0, "judged@10": 50.0, "judged@20": 50.0}
