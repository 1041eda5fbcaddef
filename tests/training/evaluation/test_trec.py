import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import example, given
from hypothesis import strategies as st

from training.data.examples import Example
from training.evaluation.measures import MEASURES, measure
from training.evaluation.runner import QuestionOutcome
from training.evaluation.trec import encode, qrels_lines, run_lines


def test_a_run_line_has_six_words_and_falls_strictly() -> None:
    outcomes = {"q 1": QuestionOutcome((("a b", 0.5), ("c%", 0.5), ("d", 0.25)))}
    lines = [line.split() for line in run_lines(outcomes, "grasp")]
    assert [line[:4] for line in lines] == [
        ["q%201", "Q0", "a%20b", "1"],
        ["q%201", "Q0", "c%25", "2"],
        ["q%201", "Q0", "d", "3"],
    ]
    scores = [float(line[4]) for line in lines]
    assert scores[0] > scores[1] > scores[2] == 0.25


LIKE = st.sampled_from((0.0, -0.0, 0.5, 0.5 - 1e-9, 1 / 61, 1 / 61 + 1e-12, 1e-9, 1e-300, 2**24, 2**24 + 1, -7.25))
ANY = st.floats(allow_nan=True, allow_infinity=True)


def read_as(kind: type[np.floating[Any]], scores: Sequence[float]) -> list[float]:
    """Return the scores of a run file with these results, as a reader of this number format reads them."""
    outcomes = {"q": QuestionOutcome(tuple((f"n{place}", score) for place, score in enumerate(scores)))}
    return [float(kind(line.split()[4])) for line in run_lines(outcomes, "x")]


@given(st.lists(st.floats(-1e6, 1e6) | LIKE | ANY, min_size=2, max_size=100), st.booleans())
@example([0.5] * 100, True)
@example([0.0] * 100, True)
@example([float("inf"), float("inf"), 1.0, float("-inf"), float("nan")], False)
@example([-3.4e38] * 100, True)
@example([1e308, 1e307, 1e39, 3.4e38], True)
@example([1.0, 2.0, 3.0], False)
def test_scores_fall_strictly_in_32_and_in_64_bits_whatever_they_were(scores: list[float], in_order: bool) -> None:
    given_scores = sorted(scores, key=lambda score: (-score, score != score)) if in_order else scores
    for kind in (np.float32, np.float64):
        written = read_as(kind, given_scores)
        assert len(written) == len(scores)
        assert all(math.isfinite(score) for score in written)
        assert all(earlier > later for earlier, later in pairwise(written))


def test_scores_that_already_fall_are_written_as_they_are() -> None:
    scores = [3.0, 0.75, 0.0163934426, 0.0163934, 1e-12, -2.5]
    assert read_as(np.float64, scores) == pytest.approx(scores, rel=1e-7)


def test_scores_that_no_32_bit_float_holds_are_replaced_by_places_from_the_end() -> None:
    assert read_as(np.float64, [1e39, 0.5, float("nan")]) == [3.0, 2.0, 1.0]


TIED = {
    "one score for all": lambda place: 0.5,
    "ties of three": lambda place: 1 / (61 + place // 3),
    "gaps of 1e-9": lambda place: 0.5 - 1e-9 * place,
    "gaps of 1e-15 at 1,000": lambda place: 1_000 - 1e-15 * place,
    "gaps below what 32 bits hold at ten millions": lambda place: 1e8 - place,
    "huge": lambda place: 1e300 / (1 + place),
    "negative": lambda place: -1.0 - place // 2,
    "hugely negative": lambda place: -1e38 * (1 + place // 4),
    "infinite at first": lambda place: math.inf if place < 3 else 1.0 / place,
    "minus infinity at last": lambda place: 1.0 / place if 0 < place < 50 else 2.0 if not place else -math.inf,
    "no number": lambda place: math.nan,
    "all but zero": lambda place: 1e-310 / (1 + place),
    "out of order": lambda place: float(place % 7),
}


@pytest.mark.parametrize("kind", TIED)
def test_trec_eval_measures_a_run_file_as_the_report_does(tmp_path: Path, kind: str) -> None:
    """Thirty questions with 1,000 results; trec_eval orders equal scores by id, from the last to the first."""
    results = [f"n{place:04}" for place in range(1_000)]
    answers = {f"q{at}": (results[3 * at], results[min(99, 7 * at + 1)], results[500]) for at in range(30)}
    outcome = QuestionOutcome(tuple((node, TIED[kind](place)) for place, node in enumerate(results)))
    examples = [Example(question, "?", own) for question, own in answers.items()]
    (tmp_path / "qrels").write_text("".join(qrels_lines(examples)))
    (tmp_path / "x.run").write_text("".join(run_lines(dict.fromkeys(answers, outcome), "x")))
    reported = measure(dict.fromkeys(answers, results), answers)

    with (tmp_path / "qrels").open() as qrels, (tmp_path / "x.run").open() as run:
        judged, found = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
    names = {"H@1": "success_1", "H@5": "success_5", "R@20": "recall_20", "MRR": "recip_rank", "R-precision": "Rprec"}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"success", "recall", "recip_rank", "Rprec"})
    by_trec_eval = evaluator.evaluate(found)
    for name, column in reported.items():
        own = [100 * by_trec_eval[question][names[name]] for question in answers]
        assert own == pytest.approx(column.tolist(), abs=1e-9), name

    measured = ir_measures.calc_aggregate(
        MEASURES.values(),
        ir_measures.read_trec_qrels(str(tmp_path / "qrels")),
        ir_measures.read_trec_run(str(tmp_path / "x.run")),
    )
    assert {name: 100 * measured[one] for name, one in MEASURES.items()} == pytest.approx(
        {name: column.mean() for name, column in reported.items()}
    )


@given(st.text(min_size=1))
def test_an_encoded_name_is_one_word_that_a_reader_splits_as_we_do(name: str) -> None:
    assert len(encode(name).split()) == 1


def test_ir_measures_reads_our_files_and_agrees_with_our_figures(tmp_path: Path) -> None:
    examples = [Example("q 1", "?", ("a b",)), Example("q2", "?", ("x", "y"))]
    outcomes = {"q 1": QuestionOutcome((("z", 1.0), ("a b", 1.0))), "q2": QuestionOutcome((("y", 0.9), ("n", 0.2)))}
    (tmp_path / "qrels").write_text("".join(qrels_lines(examples)))
    (tmp_path / "x.run").write_text("".join(run_lines(outcomes, "x")))
    qrels = ir_measures.read_trec_qrels(str(tmp_path / "qrels"))
    found = ir_measures.calc_aggregate(
        [ir_measures.RR, ir_measures.R @ 20], qrels, ir_measures.read_trec_run(str(tmp_path / "x.run"))
    )
    assert found[ir_measures.RR] == pytest.approx((0.5 + 1.0) / 2)
    assert found[ir_measures.R @ 20] == pytest.approx((1.0 + 0.5) / 2)
