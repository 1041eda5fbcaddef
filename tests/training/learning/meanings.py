"""Meanings of questions, written by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from training.learning.plan_meanings import Meanings, PairTable

Row = tuple[list[float], list[float], list[int]]
"""The scores of a question's meanings, the F1 of each, and the number of what it finds."""


def meanings(
    scores: Sequence[float], fit: Sequence[float], same: Sequence[int] = (),
    parts: Sequence[tuple[str, tuple[str, ...]]] = (), of: Sequence[Sequence[int]] = (),
) -> Meanings:  # fmt: skip
    """Return the meanings of a question; without `same` none find the same, without `of` they have no parts."""
    return Meanings(
        np.array(scores, dtype=np.float64), np.array(fit, dtype=np.float64),
        np.array(same or range(len(fit)), dtype=np.int64), parts, of or [()] * len(fit),
    )  # fmt: skip


def table_of(*rows: Row) -> PairTable:
    """Return the table of questions whose meanings have no parts."""
    return PairTable.of_questions([meanings(*row) for row in rows])
