"""Training step by step with checkpoints: it goes on exactly where it was interrupted, and stops before it breaks.

What a step draws must depend on the seed and the number of the step alone.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.neural.memory import out_of_memory, release_memory
from training.learning.devices import adam_w
from training.learning.step_state import StepState, restored, saved

EXPLODED = 5.0
"""A mean loss of a step above this multiple of the loss of guessing counts as exploded."""
CHECKPOINT_SECONDS = 60.0
"""Seconds between two checkpoints."""
CLIP = 1.0
"""Largest norm of the gradient of a step."""
DECAY = 0.01
HEAD_RATE = 10.0
"""Factor between the learning rate of a head, which starts from nothing, and that of the model under it."""
LEARNING = "learning"
"""Name of the part of the work."""


class NamedFeature(Protocol):
    """A question that has an id."""

    @property
    def id(self) -> str: ...


Q = TypeVar("Q", bound=NamedFeature)


@dataclass(frozen=True, slots=True)
class HowToStep:
    """Settings of a fit: the number of steps, questions a step, and the height, the rise and the seed of the rate.

    `at_once` is the number of texts that are computed at once. The model is measured `checks` times. `pause` is the
    number of seconds between two checkpoints.
    """

    steps: int
    batch: int
    at_once: int
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


class StepwiseFit(ABC, Generic[Q]):
    """A fit of a model whose part `body` was trained before; its other parts are heads, which learn faster.

    A subclass computes the gradients of a step. `figure` measures the model; the weights with the highest figure are
    the result. `key` is the name of the checkpoint.
    """

    texts = "texts"
    """What is computed at once, in the plural, for the log."""

    def __init__(
        self,
        model: nn.Module,
        questions: Sequence[Q],
        how: HowToStep,
        run: RunContext,
        figure: Callable[[], float],
        key: str,
    ) -> None:
        self.model = model
        self.questions = questions
        self.how = how
        self.run = run
        self.figure = figure
        self.key = key
        self._at_once = how.at_once

    @abstractmethod
    def losses(self, step: int, chosen: Sequence[Q], at_once: int) -> Sequence[float]:
        """Add the gradient of the mean loss of these questions to the weights, and return the loss of each."""

    @property
    @abstractmethod
    def guessing(self) -> float:
        """The loss of a model that knows nothing."""

    @property
    @abstractmethod
    def one_text(self) -> str:
        """The smallest thing that is computed at once, for an error: `candidate of 192 tokens`."""

    def __call__(self) -> Fitted:
        """Train, leave the best weights in the model, and return the curve.

        A loss or gradient that is no number, or a loss that has exploded, ends the fit at the best checkpoint so far.
        Raises StageError if not even one text fits into memory; RunCancelled, DeadlineExceeded.
        """
        optimizer = self._optimizer()
        weights = trainable(self.model)
        state = restored(self.run.checkpoints.load(self.key), weights, optimizer) or StepState(0, (), (), -1, {})
        stopped, looked = "", time.monotonic()
        while state.step < self.how.steps and not stopped:
            self.run.report(LEARNING, state.step, self.how.steps)
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
        self.run.progress(LEARNING, self.how.steps, self.how.steps)
        return Fitted(state.curve, state.checks, max(0, state.best), stopped)

    def _optimizer(self) -> torch.optim.AdamW:
        heads = [p for name, p in trainable(self.model).items() if not name.startswith("body.")]
        own = {id(p) for p in heads}
        body = [p for p in trainable(self.model).values() if id(p) not in own]
        groups = [{"params": body, "height": self.how.rate}, {"params": heads, "height": HEAD_RATE * self.how.rate}]
        return adam_w([g for g in groups if g["params"]], lr=self.how.rate, weight_decay=DECAY)

    def _height(self, step: int) -> float:
        """Return the factor of the learning rate in a step: a linear rise, then a cosine down to 0."""
        rising = max(1, round(self.how.warm * self.how.steps))
        if step < rising:
            return (step + 1) / rising
        return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, self.how.steps - rising)))

    def _checked_steps(self) -> set[int]:
        return {round(self.how.steps * part / self.how.checks) for part in range(1, self.how.checks + 1)}

    def _chosen(self, step: int) -> list[Q]:
        """Return the questions of a step: all questions in an order of their own in each pass."""
        count = len(self.questions)
        places = range(step * self.how.batch, (step + 1) * self.how.batch)
        orders = {
            at // count: np.random.default_rng([self.how.seed, 2, at // count]).permutation(count) for at in places
        }
        return [self.questions[int(orders[at // count][at % count])] for at in places]

    def _gradients(self, step: int, chosen: Sequence[Q], optimizer: Any) -> tuple[float, float]:
        """Compute the gradients of a step; return the mean loss, and the norm of the gradient before it is cut.

        If the memory of a GPU does not suffice, the step is computed again with half as many texts at once.
        """
        while (losses := self._losses_if_they_fit(step, chosen, optimizer)) is None:
            # Not where the error is handled: its traceback holds the tensors of the pass that failed.
            optimizer.zero_grad(set_to_none=True)
            release_memory()
            self._at_once = max(1, self._at_once // 2)
            self.run.log(f"Step {step + 1}: out of memory; from now on {self._at_once} {self.texts} at once.")
        norm = nn.utils.clip_grad_norm_(list(trainable(self.model).values()), CLIP)
        return float(np.mean(losses)), float(norm)

    def _losses_if_they_fit(self, step: int, chosen: Sequence[Q], optimizer: Any) -> Sequence[float] | None:
        optimizer.zero_grad(set_to_none=True)
        try:
            return self.losses(step, chosen, self._at_once)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if self._at_once == 1:
                reason = f"not even one {self.one_text} fits into the device's memory"
                raise StageError("training", reason, permanent=True) from error
            return None

    def _wrong(self, state: StepState, chosen: Sequence[Q], loss: float, norm: float) -> str:
        """Return a sentence that says what is wrong with a step's loss or gradient; empty if nothing is."""
        largest = EXPLODED * self.guessing
        if math.isfinite(loss) and math.isfinite(norm) and loss <= largest:
            return ""
        said = f"the loss is {loss:.3g}" if not loss <= largest else f"the gradient's norm is {norm:.3g}"
        named = ", ".join(one.id for one in chosen[:8]) + (" …" if len(chosen) > 8 else "")
        kept = f"the weights of step {state.best} are kept" if state.best >= 0 else "the weights before it are kept"
        return f"Training stopped in step {state.step + 1}: {said}, in the batch of the questions {named}; {kept}."

    def _checked(self, state: StepState, weights: Mapping[str, Tensor]) -> StepState:
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
