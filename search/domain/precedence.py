"""Weights that fix which of two lists decides, in fusions by reciprocal ranks: 1 / (k + rank), the first rank is 1."""

from __future__ import annotations

K = 60.0
"""The constant k of fusions whose order is fixed by their weights."""


def behind(weight: float, length: int, k: float = K) -> float:
    """Return the weight with which a list's first candidate comes right behind the last of another list.

    The other list has this `weight` and `length`, and no candidate in common with the first. The first candidate gets
    what a further one of the other list would get.
    """
    return weight * (k + 1) / (k + length + 1)


def without_reordering(weight: float, length: int, k: float = K) -> float:
    """Return the weight at which a list's first rank equals the difference of the ranks `length` and `length` + 1.

    These are ranks of another list, which has this `weight`. All differences between neighbours before them are larger,
    so that a list with less weight cannot change the order of its first `length` candidates.
    """
    return weight * (k + 1) / ((k + length) * (k + length + 1))
