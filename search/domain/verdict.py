"""How sure a search is of its answer, and which other readings of the question it asks back about."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["sure", "probably", "unsure", "none"]
VERDICTS: tuple[Verdict, ...] = ("sure", "probably", "unsure", "none")

SURE = 0.8
"""An answer that is at least this probable is sure if nothing of the question is left unchecked.

Chosen on the 348 training questions of `asked` (demo bases) and `geo`: of the 281 that reach it 97 % have the whole
right set. From 0.7 on it would be 96 %, from 0.9 on 99 % of 172."""
LIKELY = 0.5
"""From this probability on an answer is probably right: 14 of the 16 such training questions below `SURE` are."""
RIVAL = 0.2
"""Another reading with another answer is asked about if its probability is this share of the shown one's.

Of the same questions 10 are asked back, one of which has a wrong set and the right one among the choices; at 0.1 it
would be 71, four of them wrong, at 0.25 it would be 4."""
READABLE = 0.2
"""Least probability of the shown reading for which others are asked about: below it all of them are guesses."""
MENTIONED = 0.01
"""Least probability of a reading that is offered where the question is a bare name: no word of it tells them apart."""
MOST_OFFERED = 3
"""Readings that are offered, the shown one among them."""


@dataclass(frozen=True, slots=True)
class VerdictReading:
    """A plan that found something: its index, its probability, and a value that is equal where the answers are."""

    plan_index: int
    probability: float
    answer: Hashable


def offered(readings: Sequence[VerdictReading], shown: int, *, bare: bool = False) -> tuple[int, ...]:
    """Return the plans to ask back about, the shown one first; empty if the shown one is clearly likelier.

    Plans with the same answer count as one, with the sum of their probabilities, and the most probable of them stands
    for it. `bare` says that the question is nothing but a name.
    """
    sums: dict[Hashable, float] = {}
    best: dict[Hashable, int] = {}
    for one in sorted(readings, key=lambda one: -one.probability):
        sums[one.answer] = sums.get(one.answer, 0.0) + one.probability
        best.setdefault(one.answer, one.plan_index)
    mine = next((one.answer for one in readings if one.plan_index == shown), None)
    if mine is None or sums[mine] < READABLE:
        return ()
    least = MENTIONED if bare else RIVAL * sums[mine]
    others = sorted((answer for answer in sums if answer != mine and sums[answer] >= least), key=lambda one: -sums[one])
    return (shown, *(best[answer] for answer in others[: MOST_OFFERED - 1])) if others else ()


def judged(probability: float, *, answered: bool, doubted: bool, rivalled: bool) -> Verdict:
    """Return the verdict on an answer with this probability.

    `doubted` says that something of the question could not be checked, `rivalled` that other readings are asked about.
    """
    if not answered:
        return "none"
    if doubted or probability < LIKELY:
        return "unsure"
    return "sure" if probability >= SURE and not rivalled else "probably"
