"""Listwise training of a reranker (GRASP, section on reranking), which goes on exactly where it was interrupted.

Each step draws, for each of its questions, one answer and some of the hardest negatives, and minimises the softmax
cross-entropy of the answer among them. Everything that is drawn depends on the seed and the number of the step alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.neural.devices import computes_bfloat16
from search.neural.pair_model import Pair, PairModel
from training.learning.reranker_lists import CandidateList, Documents
from training.learning.reranker_state import State, restored, saved

EXPLODED = 5.0
"""A mean loss of a step above this multiple of the loss of guessing counts as exploded."""
CHECKPOINT_SECONDS = 60.0
"""Seconds between two checkpoints."""
CLIP = 1.0
"""Largest norm of the gradient of a step."""
DECAY = 0.01
HEAD_RATE = 10.0
"""Factor between the learning rate of a cross-encoder's head, which starts from nothing, and that of the encoder."""


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


@dataclass(frozen=True)
class Fitted:
    """The result of a fit: the loss of each step, the checks (step, figure), the step whose weights were kept.

    `stopped` says why the fit ended early, and is empty if it did not.
    """

    curve: tuple[float, ...]
    checks: tuple[tuple[int, float], ...]
    best: int
    stopped: str = ""


@dataclass
class Fit:
    """A fit of a model on candidate lists.

    `figure` measures the model; the weights with the highest figure are the result. `key` is the name of the
    checkpoint.
    """

    model: PairModel
    lists: Sequence[CandidateList]
    documents: Documents
    how: HowToFit
    run: RunContext
    figure: Callable[[], float]
    key: str
    _pairs: int = field(default=0, init=False)

    def __call__(self) -> Fitted:
        """Train, leave the best weights in the model, and return the curve.

        A loss or gradient that is no number, or a loss that has exploded, ends the fit at the best checkpoint so far.
        Raises StageError if not even one candidate fits into memory; RunCancelled, DeadlineExceeded.
        """
        optimizer = self._optimizer()
        weights = trainable(self.model)
        state = restored(self.run.checkpoints.load(self.key), weights, optimizer) or State(0, (), (), -1, {})
        self._pairs = self.how.pairs or self.how.group
        stopped, looked = "", time.monotonic()
        while state.step < self.how.steps and not stopped:
            self.run.report("learning", state.step, self.how.steps)
            chosen = self._chosen(state.step)
            loss, norm = self._gradients(state.step, chosen, optimizer)
            if stopped := self._wrong(state, chosen, loss, norm):
                break
            for group in optimizer.param_groups:
                group["lr"] = group["height"] * self._height(state.step)
            optimizer.step()
            state = replace(state, step=state.step + 1, curve=(*state.curve, loss))
            self.run.metric("loss", state.step, loss)
            if state.step in self._checked_steps():
                state = self._checked(state, weights)
            if time.monotonic() - looked >= self.how.pause:
                self.run.checkpoints.save(self.key, saved(state, weights, optimizer))
                looked = time.monotonic()
        if state.best >= 0:
            with torch.no_grad():
                for name, tensor in state.weights.items():
                    weights[name].copy_(tensor)
        if stopped:
            self.run.log(stopped)
        self.run.checkpoints.save(self.key, saved(state, weights, optimizer))
        self.run.progress("learning", self.how.steps, self.how.steps)
        return Fitted(state.curve, state.checks, max(0, state.best), stopped)

    def _optimizer(self) -> torch.optim.AdamW:
        heads = [p for name, p in trainable(self.model).items() if not name.startswith("body.")]
        own = {id(p) for p in heads}
        body = [p for p in trainable(self.model).values() if id(p) not in own]
        groups = [{"params": body, "height": self.how.rate}, {"params": heads, "height": HEAD_RATE * self.how.rate}]
        return torch.optim.AdamW([g for g in groups if g["params"]], lr=self.how.rate, weight_decay=DECAY)

    def _height(self, step: int) -> float:
        """Return the factor of the learning rate in a step: a linear rise, then a cosine down to 0."""
        rising = max(1, round(self.how.warm * self.how.steps))
        if step < rising:
            return (step + 1) / rising
        return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, self.how.steps - rising)))

    def _checked_steps(self) -> set[int]:
        return {round(self.how.steps * part / self.how.checks) for part in range(1, self.how.checks + 1)}

    def _chosen(self, step: int) -> list[CandidateList]:
        """Return the questions of a step: all questions in an order of their own in each pass."""
        count = len(self.lists)
        places = range(step * self.how.batch, (step + 1) * self.how.batch)
        orders = {
            at // count: np.random.default_rng([self.how.seed, 2, at // count]).permutation(count) for at in places
        }
        return [self.lists[int(orders[at // count][at % count])] for at in places]

    def _gradients(self, step: int, chosen: Sequence[CandidateList], optimizer: Any) -> tuple[float, float]:
        """Compute the gradients of a step; return the mean loss, and the norm of the gradient before it is cut.

        If the memory of a GPU does not suffice, the step is computed again with half as many candidates at once.
        """
        while True:
            optimizer.zero_grad(set_to_none=True)
            try:
                losses = [self._one(step, place, one, len(chosen)) for place, one in enumerate(chosen)]
            except torch.OutOfMemoryError as error:
                if self._pairs == 1:
                    reason = f"not even one candidate of {self.model.tokens} tokens fits into the device's memory"
                    raise StageError("training", reason, permanent=True) from error
                self._pairs = max(1, self._pairs // 2)
                self.run.log(f"Step {step + 1}: out of memory; from now on {self._pairs} candidates at once.")
                optimizer.zero_grad(set_to_none=True)
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()
                continue
            norm = nn.utils.clip_grad_norm_(list(trainable(self.model).values()), CLIP)
            return float(np.mean(losses)), float(norm)

    def _one(self, step: int, place: int, one: CandidateList, count: int) -> float:
        """Add the gradient of one question's loss, divided by `count`, and return the loss."""
        chance = np.random.default_rng([self.how.seed, 3, step, place])
        keys = one.drawn(self.how.group, chance)
        self.run.check()
        pairs = self.model.pairs(one.text, self.documents.of(keys, self.run.limit))
        seed = int(chance.integers(2**62))
        return backward(self.model, pairs, self._pairs, seed, 1.0 / count)

    def _wrong(self, state: State, chosen: Sequence[CandidateList], loss: float, norm: float) -> str:
        """Return a sentence that says what is wrong with a step's loss or gradient; empty if nothing is."""
        largest = EXPLODED * math.log(self.how.group)
        if math.isfinite(loss) and math.isfinite(norm) and loss <= largest:
            return ""
        said = f"the loss is {loss:.3g}" if not loss <= largest else f"the gradient's norm is {norm:.3g}"
        named = ", ".join(one.id for one in chosen[:8]) + (" …" if len(chosen) > 8 else "")
        kept = f"the weights of step {state.best} are kept" if state.best >= 0 else "the weights before it are kept"
        return f"Training stopped in step {state.step + 1}: {said}, in the batch of the questions {named}; {kept}."

    def _checked(self, state: State, weights: Mapping[str, Tensor]) -> State:
        """Return the state after the model was measured; the weights are kept if it is the best so far."""
        self.model.eval()
        figure = self.figure()
        self.model.train()
        self.run.metric("held out, MRR", state.step, figure)
        checks = (*state.checks, (state.step, figure))
        if figure <= max((known for _, known in state.checks), default=-1.0):
            return replace(state, checks=checks)
        kept = {name: tensor.detach().cpu().clone() for name, tensor in weights.items()}
        return replace(state, checks=checks, best=state.step, weights=kept)


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters that are trained, by name."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


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
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=computes_bfloat16(device.type)):
            scores: Tensor = model(pairs)
    return scores.float()
