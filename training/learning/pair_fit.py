"""Fits the weights of pairs: log-linear over the meanings that were tried, from questions and answers alone.

The likelihood is that of any right meaning of a question (marginal likelihood, as in Liang, Jordan and Klein, "Learning
dependency-based compositional semantics", Computational Linguistics 2013), with an L2 penalty, fitted by L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from training.learning.plan_meanings import SEEN, PairTable, Places, Values

_LEAST = 1e-9
"""Least probability whose logarithm is taken."""


@dataclass(frozen=True, eq=False)
class PairPart:
    """The meanings of some questions of a table, each question's together; `first` is the first of each.

    `group` numbers the meanings that find the same, each question's together; `first_group` is the first of each.
    """

    scores: Values
    fit: Values
    right: Values
    weight: Values
    first: Places
    group: Places
    first_group: Places
    of: csr_matrix
    parts: csr_matrix

    @classmethod
    def of_table(cls, table: PairTable, chosen: Places) -> PairPart:
        """Return the meanings of the chosen questions; questions without meanings are left out."""
        sizes = np.diff(table.first)[chosen]
        chosen, sizes = chosen[sizes > 0], sizes[sizes > 0]
        rows, own = _within(table.first, chosen), _within(table.first_part, chosen)
        first = np.append(0, np.cumsum(sizes))
        _, group = np.unique(table.same[rows], return_inverse=True)
        return cls(
            table.scores[rows], table.fit[rows], table.right[rows].astype(np.float64), table.weight[chosen], first,
            group, group[first[:-1]], table.of[rows][:, own], table.parts[own],
        )  # fmt: skip

    def sums(self, weights: Values) -> Values:
        """Return the scores of all meanings with these weights of pairs."""
        found: Values = self.scores + self.of @ (self.parts @ weights)
        return found

    def shares(self, sums: Values) -> Values:
        """Return the softmax over the meanings of each question."""
        sizes = np.diff(self.first)
        odds = np.exp(sums - np.repeat(np.maximum.reduceat(sums, self.first[:-1]), sizes))
        found: Values = odds / np.repeat(np.add.reduceat(odds, self.first[:-1]), sizes)
        return found

    def loss(self, sums: Values) -> float:
        """Return minus the logarithm of the probability of the right meanings, summed by the questions' weights."""
        if not len(self.weight):
            return 0.0
        right = np.add.reduceat(self.shares(sums) * self.right, self.first[:-1])
        return -float(self.weight @ np.log(np.maximum(right, _LEAST)))

    def slope(self, sums: Values) -> Values:
        """Return the derivative of the loss with respect to the score of each meaning."""
        sizes = np.diff(self.first)
        shares = self.shares(sums)
        right = np.repeat(np.maximum(np.add.reduceat(shares * self.right, self.first[:-1]), _LEAST), sizes)
        found: Values = np.repeat(self.weight, sizes) * (shares - shares * self.right / right)
        return found

    def firsts(self, sums: Values) -> tuple[Values, Values]:
        """Return the probability of what each question's first meaning finds, and its F1; shapes (questions,)."""
        if not len(self.weight):
            return np.zeros(0), np.zeros(0)
        shares: Values = np.bincount(self.group, self.shares(sums)).astype(np.float64)
        fits = np.zeros(len(shares))
        fits[self.group] = self.fit
        ends = [*self.first_group.tolist(), len(shares)]
        best = [low + int(np.argmax(shares[low:high])) for low, high in pairwise(ends)]
        return shares[best], fits[best]

    def nearest(self) -> Values:
        """Return the best F1 of each question's meanings, shape (questions,)."""
        return np.maximum.reduceat(self.fit, self.first[:-1]) if len(self.weight) else np.zeros(0)


def fit(
    table: PairTable, chosen: Places, penalty: float, steps: int, tick: Callable[[int, float], None] = lambda *_: None,
    check: Callable[[], None] = lambda: None,
) -> Values:  # fmt: skip
    """Return the weight of each pair of a table, learned from the chosen questions; 0 for pairs that few of them have.

    `penalty` is the strength of L2, `steps` the most steps of L-BFGS. `tick` is called after each step with its number
    and the mean loss of a question; `check` raises an exception if the run must stop.
    """
    taught = chosen[table.weight[chosen] > 0]
    part = PairPart.of_table(table, taught)
    known = np.flatnonzero(np.asarray(table.in_question[taught].sum(axis=0)).ravel() >= SEEN)
    weights = np.zeros(len(table.pairs))
    if not len(known):
        return weights
    parts = part.parts.tocsc()[:, known].tocsr()
    back_of, back_parts = part.of.T.tocsr(), parts.T.tocsr()
    done, last = 0, 0.0

    def loss(values: Values) -> tuple[float, Values]:
        nonlocal last
        check()
        sums = part.scores + part.of @ (parts @ values)
        last = part.loss(sums)
        slope = back_parts @ (back_of @ part.slope(sums))
        return last + penalty * float(values @ values) / 2, slope + penalty * values

    def step(_: Values) -> None:
        nonlocal done
        done += 1
        tick(done, last / len(part.weight))

    options = {"maxiter": steps}
    weights[known] = minimize(loss, np.zeros(len(known)), jac=True, method="L-BFGS-B", callback=step, options=options).x
    return weights


def _within(first: Places, chosen: Places) -> Places:
    """Return the places from `first[i]` to `first[i + 1]` of each chosen i."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(first[at], first[at + 1]) for at in chosen)])
