"""Fits the scorer of plans (docs/planning.md, "Learned"): seconds on a CPU, since the encoder stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor

from search.interfaces import Vectors
from search.neural.plan_scorer import PlanScorerNet, ScorerSize
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.scoring.score import Weights
from training.learning.plan_lists import PlanLists

Indices = NDArray[np.int64]

_WARM = 0.1
"""Part of the steps in which the rate rises to its height; then it falls to nothing."""
_FAST = 5.0
"""How many times faster the few weights of features learn than the maps."""
_LIGHT = 0.01
"""Their weight decay."""
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How a fit goes: passes over the questions, questions a step, height of the rate, weight decay, hidden units."""

    epochs: int
    batch: int
    rate: float
    decay: float
    hidden: int
    seed: int


@dataclass(frozen=True, eq=False)
class Fitted:
    """A net, and the vectors of the paths that it was fitted with, shape (paths, dimensions)."""

    net: PlanScorerNet
    free: Tensor

    def to_bytes(self) -> bytes:
        """Return the weights as safetensors."""
        return save({**self.net.state_dict(), "free": self.free})

    @classmethod
    def from_bytes(cls, content: bytes, hidden: int) -> Fitted:
        """Read back what `to_bytes` wrote, of a net with so many hidden units."""
        tensors = load(content)
        free = tensors.pop("free")
        net = PlanScorerNet(ScorerSize(free.shape[1], len(FEATURES), hidden))
        net.load_state_dict(tensors)
        return cls(net, free)

    def sums(self, lists: PlanLists, chosen: Indices) -> Iterator[tuple[Vectors, float]]:
        """Yield, for each of these questions, the sums of its plans and that of the plan without hops."""
        self.net.eval()
        with torch.inference_mode():
            path_vectors = self.net.map_paths(self.free)
            for first in range(0, len(chosen), 256):
                table = lists.table(chosen[first : first + 256])
                plans, texts = self.net(table, path_vectors)
                ends = np.searchsorted(table.question, np.arange(1, len(texts)))
                yield from zip(np.split(plans.numpy(), ends), texts.tolist(), strict=True)


def unlearned(wordings: Vectors, hidden: int) -> Fitted:
    """Return a scorer that scores as one without training does; `wordings` are vectors of the paths' wordings."""
    weights = Weights()
    size = ScorerSize(wordings.shape[1], len(FEATURES), hidden)
    net = PlanScorerNet(size, weights.spoken().tolist(), weights.cosine, weights.text)
    return Fitted(net, torch.from_numpy(wordings))


def fit(
    lists: PlanLists,
    wordings: Vectors,
    chosen: Indices,
    how: FitSettings,
    tick: Callable[[int, float], None],
    check: Callable[[], None] = lambda: None,
) -> Fitted:
    """Fit a scorer on the chosen questions. The same seed gives the same weights.

    `tick` is told each pass and its mean loss; `check` is called before each step and raises where the fit has to stop.
    """
    with torch.random.fork_rng():
        torch.manual_seed(how.seed)
        net = unlearned(wordings, how.hidden).net
    path_vectors = torch.from_numpy(wordings)
    moved = torch.nn.Parameter(torch.zeros_like(path_vectors))
    maps = {id(net.ask.weight), id(net.tell.weight)}
    optimizer = torch.optim.AdamW([
        {"params": [net.ask.weight, net.tell.weight, moved], "lr": how.rate, "weight_decay": how.decay},
        {"params": [p for p in net.parameters() if id(p) not in maps], "lr": _FAST * how.rate, "weight_decay": _LIGHT},
    ])  # fmt: skip
    steps = how.epochs * -(-len(chosen) // how.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (_WARM * steps)) * (1 - step / steps)
    )
    chance = np.random.default_rng(how.seed)
    net.train()
    for epoch in range(how.epochs):
        order, lost = chance.permutation(chosen), 0.0
        for first in range(0, len(order), how.batch):
            check()
            batch = order[first : first + how.batch]
            table = lists.table(batch)
            plans, texts = net(table, net.map_paths(path_vectors + moved))
            loss = plan_loss(plans, texts, torch.from_numpy(lists.labels(batch)), torch.from_numpy(table.question))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            lost += loss.item() * len(batch) / len(order)
        tick(epoch + 1, lost)
    return Fitted(net, (path_vectors + moved).detach())


def plan_loss(plans: Tensor, texts: Tensor, labels: Tensor, question: Tensor) -> Tensor:
    """Return the mean loss of questions whose plans have these sums and labels.

    One softmax over all plans of a question and the plan without hops. The cross-entropy against F1 as a distribution
    would ask every plan that finds answers to be likely, the accidental ones too: a film's director and its writer are
    often one person. So the likely plans are asked to find answers: with b the best F1 of a question, the loss is
    -b log(sum of p · F1 / b) - (1 - b) log p(no hops), which makes a probability mean how much of the answers the
    graph gives.

    Shapes: `plans`, `labels` and `question` (plans,), the last sorted; `texts` (questions,).
    """
    count = len(texts)
    best = torch.zeros(count).scatter_reduce(0, question, labels, "amax")
    peak = texts.detach().scatter_reduce(0, question, plans.detach(), "amax")
    weight, ground = torch.exp(plans - peak[question]), torch.exp(texts - peak)
    total = ground + torch.zeros(count).index_add(0, question, weight)
    right = torch.zeros(count).index_add(0, question, weight * labels / best.clamp(min=_LEAST)[question])
    loss: Tensor = -(best * torch.log(right / total + _LEAST) + (1 - best) * (texts - peak - torch.log(total)))
    return loss.mean()
