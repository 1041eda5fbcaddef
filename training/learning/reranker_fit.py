"""Listwise training of a reranker (GRASP, section on reranking), which goes on exactly where it was interrupted.

Each step draws, for each of its questions, one answer and some of the hardest negatives, and minimises the softmax
cross-entropy of the answer among them. Everything that is drawn depends on the seed and the number of the step alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from search.domain.run_context import RunContext
from search.neural.devices import computes_bfloat16, seeded
from search.neural.pair_model import Pair, PairModel
from training.learning.reranker_lists import CandidateList, Documents
from training.learning.stepwise import CHECKPOINT_SECONDS, HowToStep, StepwiseFit


@dataclass(frozen=True, slots=True)
class HowToFit:
    """Settings of a fit: see RerankerSettings. `steps` is the number of steps that are done."""

    steps: int
    batch: int
    group: int
    pairs: int
    rate: float
    warm: float
    checks: int
    seed: int
    pause: float = CHECKPOINT_SECONDS

    def stepwise(self) -> HowToStep:
        """Return the settings that every fit has."""
        return HowToStep(
            self.steps, self.batch, self.pairs or self.group, self.rate, self.warm, self.checks, self.seed, self.pause
        )


class Fit(StepwiseFit[CandidateList]):
    """A fit of a reranker on candidate lists."""

    texts = "candidates"
    model: PairModel

    def __init__(
        self,
        model: PairModel,
        lists: Sequence[CandidateList],
        documents: Documents,
        how: HowToFit,
        run: RunContext,
        figure: Callable[[], float],
        key: str,
    ) -> None:
        super().__init__(model, lists, how.stepwise(), run, figure, key)
        self.documents = documents
        self.group = how.group

    @property
    def guessing(self) -> float:
        """The loss of equal scores."""
        return math.log(self.group)

    @property
    def one_text(self) -> str:
        """A candidate of the largest length."""
        return f"candidate of {self.model.tokens} tokens"

    def losses(self, step: int, chosen: Sequence[CandidateList], at_once: int) -> Sequence[float]:
        """Add the gradients of the questions of a step; see the base class."""
        return [self._one(step, place, one, len(chosen), at_once) for place, one in enumerate(chosen)]

    def _one(self, step: int, place: int, one: CandidateList, count: int, at_once: int) -> float:
        """Add the gradient of one question's loss, divided by `count`, and return the loss."""
        chance = np.random.default_rng([self.how.seed, 3, step, place])
        keys = one.drawn(self.group, chance)
        self.run.check()
        pairs = self.model.pairs(one.text, self.documents.of(keys, self.run.limit))
        seed = int(chance.integers(2**62))
        return backward(self.model, pairs, at_once, seed, 1.0 / count)


def listwise(scores: Tensor) -> Tensor:
    """Return the softmax cross-entropy of the first score among all, shape () (GRASP, section on reranking)."""
    return functional.cross_entropy(scores.unsqueeze(0), torch.zeros(1, dtype=torch.long, device=scores.device))


def backward(model: PairModel, pairs: Sequence[Pair], at_once: int, seed: int, factor: float) -> float:
    """Add the gradient of the listwise loss, times `factor`, to the weights, and return the loss.

    If the pairs are more than `at_once`, they are computed twice in parts: first without gradients, for the loss and
    its derivative by each score, then with gradients, one part after the other (Gao et al. 2021, gradient cache). The
    seed decides the dropout, so that both passes agree, and a step that is computed again is the same.
    """
    parts = [pairs[at : at + at_once] for at in range(0, len(pairs), at_once)]
    if len(parts) == 1:
        loss = listwise(_scores(model, pairs, seed))
        (loss * factor).backward()
        return float(loss.detach())
    with torch.no_grad():
        scores = torch.cat([_scores(model, part, seed + at) for at, part in enumerate(parts)])
    scores.requires_grad_()
    loss = listwise(scores)
    [slopes] = torch.autograd.grad(loss, scores)
    for at, part in enumerate(parts):
        own = slopes[at * at_once : at * at_once + len(part)]
        (_scores(model, part, seed + at) @ own * factor).backward()
    return float(loss.detach())


def _scores(model: PairModel, pairs: Sequence[Pair], seed: int) -> Tensor:
    """Return the scores of pairs, computed in bfloat16 where the device has it; the seed decides the dropout."""
    device = model.device
    half = torch.autocast(device.type, dtype=torch.bfloat16, enabled=computes_bfloat16(device.type))
    with seeded(seed, device), half:
        scores: Tensor = model(pairs)
    return scores.float()
