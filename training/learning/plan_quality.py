"""How good a scorer of plans is: the plan it puts first, what its probabilities are worth, and the graph's list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.domain.trace import Limit
from search.interfaces import NodeStore
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.enumeration.propose import Proposer
from search.stages.plan.scoring.score import Scored
from training.data.examples import Example
from training.evaluation.measures import DEPTH, means, measure

Floats = NDArray[np.float64]
Score = Callable[[AnalysedQuestion, Sequence[PlanCandidate]], Scored]

BINS = 10
TEMPERATURES = np.geomspace(0.5, 4.0, 43)
_SAME = 1e-6


def probabilities(sums: Floats, text: float, temperature: float = 1.0) -> Floats:
    """Return the softmax over plans and, as the last entry, the plan without hops."""
    scaled = np.append(sums, text) / temperature
    shares: Floats = np.exp(scaled - scaled.max())
    shares /= shares.sum()
    return shares


def best_temperature(
    scored: Sequence[tuple[Floats, float]], labels: Sequence[Floats], check: Callable[[], None] = lambda: None
) -> float:
    """Return the temperature at which sums of questions not learned from are the least surprised by their labels.

    `check` is called between temperatures and raises where the run has to stop.
    """

    def surprise(temperature: float) -> float:
        check()
        total = 0.0
        for (sums, text), found in zip(scored, labels, strict=True):
            shares, best = probabilities(sums, text, temperature), float(found.max(initial=0.0))
            right = float(shares[:-1] @ found) / best if best else 0.0
            total -= best * np.log(right + _SAME) + (1 - best) * np.log(shares[-1] + _SAME)
        return total

    return float(min(TEMPERATURES, key=surprise))


def accuracy(scored: Sequence[tuple[Floats, float]], labels: Sequence[Floats]) -> float:
    """Return the share in percent of questions whose first plan finds answers, and as well as any plan does."""
    right = [
        len(found) > 0 and 0 < found.max() <= found[int(np.argmax(sums))] + _SAME
        for (sums, _), found in zip(scored, labels, strict=True)
    ]
    return round(100 * float(np.mean(right)), 2)


def calibration(scored: Sequence[tuple[Floats, float]], labels: Sequence[Floats], temperature: float) -> dict[str, Any]:
    """Return, by bins of the first plan's probability, its mean and the mean F1 of what that plan finds.

    `error` is the mean distance of the two over all questions that have a plan.
    """
    rows = [
        (float(probabilities(sums, text, temperature)[at]), float(found[at]))
        for (sums, text), found in zip(scored, labels, strict=True)
        if len(found)
        for at in [int(np.argmax(sums))]
    ]
    table = np.array(rows, dtype=np.float64).reshape(-1, 2)
    place = np.minimum((table[:, 0] * BINS).astype(int), BINS - 1)
    bins = []
    error = 0.0
    for at in range(BINS):
        mine = table[place == at]
        if len(mine):
            probability, f1 = mine.mean(axis=0).tolist()
            error += abs(probability - f1) * len(mine) / len(table)
            bins.append({"from": at / BINS, "to": (at + 1) / BINS, "questions": len(mine),
                         "probability": round(probability, 3), "f1": round(f1, 3)})  # fmt: skip
    return {"error": round(error, 4), "bins": bins}


def graph_lists(
    examples: Sequence[Example],
    scores: Sequence[Sequence[Score]],
    proposer: Proposer,
    nodes: NodeStore,
    plans: int,
    limit: Limit,
) -> list[dict[str, float]]:
    """Return H@1, H@5, R@20 and MRR of the graph's list alone, for each of several scorers.

    `scores[i]` are the scorers of question i. A node's score is the sum of the probabilities of the plans that find it,
    of the best `plans` that find anything.
    """
    answers = {example.id: example.answers for example in examples}
    rankings: list[dict[str, list[str]]] = [{} for _ in scores[0]] if scores else []
    for example, several in zip(examples, scores, strict=True):
        question = proposer.read(example.text)
        candidates = proposer.candidates(question.names, limit)
        for at, score in enumerate(several):
            keys = _ranked(score(question, candidates), proposer, plans)
            rankings[at][example.id] = nodes.ids(keys[:DEPTH])
    return [means(measure(one, answers)) for one in rankings]


def _ranked(scored: Scored, proposer: Proposer, plans: int) -> list[int]:
    """Return the keys that the best plans find, best first; equal ones in the order of ids."""
    sums, found = [], []
    for candidate, total in scored.candidates:
        keys = proposer.enumerator.found(candidate)
        if len(keys):
            sums.append(total)
            found.append(keys)
        if len(found) == plans:
            break
    totals: dict[int, float] = {}
    for share, keys in zip(probabilities(np.array(sums), scored.text), found, strict=False):
        for key in keys.tolist():
            totals[key] = totals.get(key, 0.0) + float(share)
    return sorted(totals, key=lambda key: (-totals[key], key))
