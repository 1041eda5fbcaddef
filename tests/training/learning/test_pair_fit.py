"""The fit of pairs of elements and words: losses by hand, the slope by differences, and what is learned."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from tests.training.learning.meanings import meanings, table_of
from training.learning.pair_fit import PairPart, fit
from training.learning.plan_meanings import SEEN, Meanings, PairTable


def whole(table: PairTable) -> PairPart:
    return PairPart.of_table(table, np.arange(len(table.weight)))


def test_the_loss_is_that_of_any_right_meaning() -> None:
    # Shares 1/2, 1/4, 1/4; the first and the last are right.
    table = table_of(([log(2), 0.0, 0.0], [1.0, 0.2, 1.0], [0, 1, 2]))
    part = whole(table)
    assert part.shares(part.scores) == pytest.approx([0.5, 0.25, 0.25])
    assert part.loss(part.scores) == pytest.approx(-log(0.75))


@pytest.mark.parametrize(
    ("fit_of", "weight"),
    [([1.0, 0.0], 1.0), ([0.6, 0.0], 0.6), ([0.4, 0.0], 0.0), ([1.0, 1.0], 0.0), ([0.0, 0.0], 0.0), ([], 0.0)],
)
def test_a_question_counts_as_its_best_meaning_finds_the_answers(fit_of: list[float], weight: float) -> None:
    # One that no meaning answers, or all answer, teaches nothing.
    assert table_of(([0.0] * len(fit_of), fit_of, list(range(len(fit_of))))).weight.tolist() == [weight]


def test_meanings_that_find_the_same_are_one() -> None:
    # Each of two is behind the first, but they find the same, so together they are ahead: 3/7 against 4/7.
    table = table_of(([log(3), log(2), log(2)], [0.0, 1.0, 1.0], [0, 1, 1]), ([0.0], [0.5], [0]))
    shares, fits = whole(table).firsts(whole(table).scores)
    assert shares == pytest.approx([4 / 7, 1.0])
    assert fits.tolist() == [1.0, 0.5]


def test_the_slope_is_what_differences_of_the_loss_say() -> None:
    table = table_of(([0.3, -0.2, 1.0], [1.0, 0.0, 1.0], [0, 1, 2]), ([0.1, 0.4], [0.0, 0.7], [0, 1]))
    part, step = whole(table), 1e-6
    told = [
        (part.loss(part.scores + one) - part.loss(part.scores - one)) / (2 * step)
        for one in step * np.eye(len(part.scores))
    ]
    assert part.slope(part.scores) == pytest.approx(told, abs=1e-6)


def asked(words: tuple[str, ...], right: int) -> Meanings:
    """Return a question of two meanings that score alike, over two elements."""
    parts = [("step made", words), ("step used", words)]
    return meanings([0.0, 0.0], [float(at == right) for at in range(2)], parts=parts, of=[[0], [1]])


def test_what_words_mean_is_learned_from_answers() -> None:
    table = PairTable.of_questions([*[asked(("", "who", "build"), 0)] * 4, *[asked(("", "who", "wear"), 1)] * 4])
    weights = dict(zip(table.pairs, fit(table, np.arange(8), 0.1, 50), strict=True))
    assert weights["step made", "build"] == pytest.approx(-weights["step used", "build"], abs=1e-3)
    assert weights["step made", "build"] > 0.5
    assert weights["step used", "wear"] > 0.5
    # As many of one kind as of the other have these.
    assert weights["step made", "who"] == pytest.approx(0.0, abs=1e-3)
    part = PairPart.of_table(table, np.arange(8))
    assert part.firsts(part.sums(np.array(list(weights.values()))))[1].tolist() == [1.0] * 8


def test_a_pair_that_few_questions_have_gets_no_weight() -> None:
    table = PairTable.of_questions([*[asked(("", "build"), 0)] * SEEN, *[asked(("", "wear"), 1)] * (SEEN - 1)])
    assert {word for _, word in table.pairs} == {"", "build"}
    # Without one of its questions a pair has too few in a fit, too.
    weights = dict(zip(table.pairs, fit(table, np.arange(1, len(table.weight) - 1), 0.1, 50), strict=True))
    assert (weights["step made", "build"], weights["step made", ""] != 0) == (0.0, True)


def test_a_stronger_penalty_learns_less_and_nothing_is_learned_of_nothing() -> None:
    table = PairTable.of_questions([asked(("build",), 0)] * 4)
    free, held = (np.abs(fit(table, np.arange(4), penalty, 50)).max() for penalty in (0.1, 10.0))
    assert 0 < held < free
    assert fit(table, np.arange(0), 1.0, 50).tolist() == [0.0] * len(table.pairs)
    assert len(fit(table_of(([0.0], [0.0], [0])), np.arange(1), 1.0, 50)) == 0


def test_steps_are_told_and_a_run_that_must_stop_stops() -> None:
    table = PairTable.of_questions([asked(("build",), 0)] * 4)
    losses: list[tuple[int, float]] = []
    fit(table, np.arange(4), 0.1, 50, lambda step, loss: losses.append((step, loss)))
    assert [step for step, _ in losses] == list(range(1, len(losses) + 1))
    assert losses[-1][1] < log(2)

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        fit(table, np.arange(4), 0.1, 50, check=stop)
