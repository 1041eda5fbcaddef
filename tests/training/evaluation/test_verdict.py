"""What a paired test on held-out questions bears out, and the sentences for what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from training.evaluation.measures import Values
from training.evaluation.verdict import ComparisonVerdict, verdict


def values(hits: list[float], ranks: list[float] | None = None) -> Values:
    return {"H@1": np.array(hits), "MRR": np.array(hits if ranks is None else ranks)}


def judged(before: list[float], after: list[float]) -> ComparisonVerdict:
    return verdict(values(before), values(after), "held-out questions")


def test_a_sure_gain_is_taken_and_the_report_counts_it() -> None:
    found = judged([0.0] * 10, [100.0] * 7 + [0.0] * 3)
    # 7 of 10 gain: of the 2^7 changes of signs two are as extreme.
    assert found.better
    told = found.to_json()
    assert (told["switched_on"], told["test"], told["questions"]) == (True, "paired randomisation test", 10)
    assert told["p"] == {"H@1": pytest.approx(2 / 128, abs=1e-6), "MRR": pytest.approx(2 / 128, abs=1e-6)}
    assert (told["wins"], told["ties"], told["losses"]) == (
        {"H@1": 7, "MRR": 7}, {"H@1": 3, "MRR": 3}, {"H@1": 0, "MRR": 0},
    )  # fmt: skip
    assert found.reason == (
        "On 10 held-out questions MRR changes by +70.00 (95% +40.00 to +100.00, p = 0.0156; 7 won, 3 equal, 0 lost) "
        "and H@1 changes by +70.00 (95% +40.00 to +100.00, p = 0.0156; 7 won, 3 equal, 0 lost). It is switched on."
    )


@pytest.mark.parametrize(
    ("before", "after", "because"),
    [
        ([0.0] * 5, [100.0] * 5, "5 questions are too few for a test; it takes 6 at least"),
        ([50.0] * 40, [50.0] * 40, "no question is answered better or worse"),
        ([0.0] * 40, [100.0] * 5 + [0.0] * 35,
         "only 5 of the questions changed, too few for a test (paired randomisation test)"),
        ([100.0] * 25 + [0.0] * 35, [0.0] * 25 + [0.0] * 35, "MRR and H@1 fell"),
        # 7 won and 3 lost: as many signs or fewer in 2 * (1 + 10 + 45 + 120) of 1,024 changes.
        ([0.0] * 7 + [100.0] * 3 + [0.0] * 30, [100.0] * 7 + [0.0] * 33,
         "the gain may be chance (p = 0.344 by a paired randomisation test, and less than 0.05 counts)"),
    ],
)  # fmt: skip
def test_what_is_not_borne_out_is_refused_with_the_reason(
    before: list[float], after: list[float], because: str
) -> None:
    found = judged(before, after)
    assert not found.better
    assert found.reason.endswith(f"It is not switched on, because {because}.")


def test_one_measure_that_gains_does_not_pay_for_the_other_that_falls() -> None:
    hits, ranks = [100.0] * 2 + [0.0] * 18, [100.0] * 2 + [10.0] * 18
    found = verdict(values(hits, ranks), values([0.0] * 20, [50.0] * 20), "held-out questions")
    assert not found.better
    assert found.reason.endswith("It is not switched on, because H@1 fell.")


def test_without_a_question_nothing_is_borne_out() -> None:
    found = judged([], [])
    assert (found.better, found.questions) == (False, 0)
    assert found.reason == (
        "There are no held-out questions to judge by. It is not switched on, because nothing could be tested."
    )
