"""Quality of a scorer of plans: accuracy of its first plan, calibration, and the graph's list."""

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
from training.evaluation.calibration import calibration as by_bins
from training.evaluation.measures import DEPTH, means, measure

Floats = NDArray[np.float64]
Score = Callable[[AnalysedQuestion, Sequence[PlanCandidate]], Scored]

TEMPERATURES = np.geomspace(0.5, 4.0, 43)
_SAME = 1e-6


def probabilities(sums: Floats, text: float, temperature: float = 1.0) -> Floats:
    """Return the softmax over the plans and the plan without hops, which is the last entry."""
    scaled = np.append(sums, text) / temperature
    shares: Floats = np.exp(scaled - scaled.max())
    shares /= shares.sum()
    return shares


def best_temperature(
    scored: Sequence[tuple[Floats, float]], labels: Sequence[Floats], check: Callable[[], None] = lambda: None
) -> float:
    """Return the temperature of `TEMPERATURES` with the lowest loss on questions that the scorer has not learned from.

    `check` is called before each temperature and raises an exception when the run must stop.
    """

    def at(temperature: float) -> float:
        check()
        return surprise(scored, labels, temperature)

    return float(min(TEMPERATURES, key=at))


def surprise(scored: Sequence[tuple[Floats, float]], labels: Sequence[Floats], temperature: float = 1.0) -> float:
    """Return the loss of `plan_loss`, summed over the questions."""
    total = 0.0
    for (sums, text), found in zip(scored, labels, strict=True):
        shares, best = probabilities(sums, text, temperature), float(found.max(initial=0.0))
        right = float(shares[:-1] @ found) / best if best else 0.0
        total -= best * np.log(right + _SAME) + (1 - best) * np.log(shares[-1] + _SAME)
    return total


def accuracy(scored: Sequence[tuple[Floats, float]], labels: Sequence[Floats]) -> float:
    """Return the percentage of questions whose first plan finds answers and has the best F1 of all plans."""
    right = [
        len(found) > 0 and 0 < found.max() <= found[int(np.argmax(sums))] + _SAME
        for (sums, _), found in zip(scored, labels, strict=True)
    ]
    return round(100 * float(np.mean(right)), 2)


def calibration(scored: Sequence[tuple[Floats, float]], labels: Sequence[Floats], temperature: float) -> dict[str, Any]:
    """Return the mean probability and the mean F1 of the first plan, in bins of its probability.

    `error` is the mean distance between the two, over all questions that have a plan.
    """
    rows = [
        (float(probabilities(sums, text, temperature)[at]), float(found[at]))
        for (sums, text), found in zip(scored, labels, strict=True)
        if len(found)
        for at in [int(np.argmax(sums))]
    ]
    found = by_bins([probability for probability, _ in rows], [f1 for _, f1 in rows], "f1")
    return found or {"error": 0.0, "bins": []}


def graph_lists(
    examples: Sequence[Example],
    scores: Sequence[Sequence[Score]],
    proposer: Proposer,
    nodes: NodeStore,
    plans: int,
    limit: Limit,
) -> list[dict[str, float]]:
    """Return H@1, H@5, R@20 and MRR, in percent, of the graph's list alone, for each scorer.

    `scores[i]` are the scorers of question i. The list uses the best `plans` plans that
    find any node. A node's score is the sum of the probabilities of those plans that find the node.
    """
    answers = {example.id: example.answers for example in examples}
    rankings: list[dict[str, list[str]]] = [{} for _ in scores[0]] if scores else []
    for example, several in zip(examples, scores, strict=True):
        question = proposer.read(example.text)
        candidates = proposer.candidates(question, limit)
        for at, score in enumerate(several):
            keys = _ranked(score(question, candidates), proposer, plans)
            rankings[at][example.id] = nodes.ids(keys[:DEPTH])
    return [means(measure(one, answers)) for one in rankings]


def _ranked(scored: Scored, proposer: Proposer, plans: int) -> list[int]:
    """Return the keys that the best plans find, best first; equal scores are ordered by key."""
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
