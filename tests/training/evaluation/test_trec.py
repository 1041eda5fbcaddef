from itertools import pairwise
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data.examples import Example
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


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=100))
def test_scores_fall_strictly_whatever_they_were(scores: list[float]) -> None:
    ordered = sorted(scores, reverse=True)
    outcomes = {"q": QuestionOutcome(tuple((f"n{i}", score) for i, score in enumerate(ordered)))}
    written = [float(line.split()[4]) for line in run_lines(outcomes, "x")]
    assert all(earlier > later for earlier, later in pairwise(written))


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
