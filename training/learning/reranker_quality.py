"""How well a reranker orders held-out questions, alone and fused with the search before it, and with which weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from search.domain.fusion import rrf
from search.domain.ranking import Candidate, Ranking
from search.domain.run_context import RunContext
from search.neural.devices import computes_bfloat16
from search.neural.pair_model import PairModel, PairScorer
from training.evaluation.measures import means, measure
from training.learning.reranker_lists import CandidateList, Documents

WEIGHTS = tuple(step / 20 for step in range(21))
KS = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0)
"""Weights and constants k that are tried (GRASP, section on fusion)."""


@dataclass(frozen=True, slots=True)
class Mix:
    """Weight of the reranker's list in the fusion, and the fusion's k."""

    weight: float
    k: float


@dataclass(frozen=True, slots=True)
class Ordered:
    """A question's candidates in the order of the search, and the reranker's order of the first of them."""

    head: Ranking
    reranked: Ranking
    answers: tuple[int, ...]

    def mixed(self, mix: Mix) -> list[int]:
        """Return the order of the fusion, as the stage `Rerank` makes it; equal scores keep the order of the search."""
        lists = {"reranker": self.reranked, "fusion": self.head}
        scores = rrf(lists, {"reranker": mix.weight, "fusion": 1 - mix.weight}, mix.k)
        return sorted(scores, key=lambda key: (-scores[key], self.head.ranks[key]))


def ordered(
    model: PairModel, lists: Sequence[CandidateList], documents: Documents, depth: int, run: RunContext
) -> list[Ordered]:
    """Return the orders of questions by a model in its present state, each of its first `depth` candidates."""
    training = model.training
    scorer = PairScorer("", model)
    found = []
    with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=computes_bfloat16(model.device.type)):
        for one in lists:
            run.check()
            keys = one.head[:depth]
            scores = scorer.score(one.text, documents.of(keys, run.limit), run.limit)
            best = sorted(zip(keys, scores.tolist(), strict=True), key=lambda pair: -pair[1])
            head = Ranking.in_order(Candidate(key, float(-place)) for place, key in enumerate(one.head))
            found.append(Ordered(head, Ranking.in_order(Candidate(key, score) for key, score in best), one.answers))
    model.train(training)
    return found


def figures(found: Sequence[Ordered], mix: Mix | None = None) -> dict[str, float]:
    """Return the measures of the fused orders, or, without `mix`, of the reranker's alone."""
    names = [str(place) for place in range(len(found))]
    orders = [list(one.reranked.keys) if mix is None else one.mixed(mix) for one in found]
    rankings = {name: list(map(str, keys)) for name, keys in zip(names, orders, strict=True)}
    return means(measure(rankings, {name: list(map(str, one.answers)) for name, one in zip(names, found, strict=True)}))


def best_mix(found: Sequence[Ordered]) -> Mix:
    """Return the weight and k with the highest sum of H@1 and MRR; the smallest weight of equal ones.

    A reranker that does not help gets weight 0, and changes nothing.
    """
    best, highest = Mix(0.0, KS[1]), -1.0
    for weight in WEIGHTS:
        for k in KS if 0 < weight < 1 else KS[1:2]:
            measured = figures(found, Mix(weight, k))
            if measured["H@1"] + measured["MRR"] > highest + 1e-9:
                best, highest = Mix(weight, k), measured["H@1"] + measured["MRR"]
    return best
