"""Fits the scorer of plans (docs/planning.md, "Learned"): seconds on a CPU, because the encoder is not trained."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save
from torch import Tensor

from search.domain.errors import StageError
from search.interfaces import Vectors
from search.neural.devices import seeded
from search.neural.plan_scorer import PlanScorerNet, ScorerSize
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.scoring.score import Weights
from training.learning.devices import adam_w
from training.learning.plan_lists import PlanLists

Indices = NDArray[np.int64]

_WARM = 0.1
"""Share of the steps that raise the learning rate. A linear decay to 0 is applied over all steps."""
_FAST = 5.0
"""Factor between the learning rate of the feature weights and that of the maps."""
_LIGHT = 0.01
"""Weight decay of the feature weights."""
_LEAST = 1e-6
_NAMED = 5
"""Questions of a batch that a message names."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Settings of a fit: passes over the questions, questions per step, peak rate, weight decay, hidden units, seed.

    `way` is the share, in (0, 1], of the way from the unlearned to the learned weights at which the scorer stands in
    the end. Weights between the two lose little on questions like those learned from, and keep what the unlearned
    scorer knows of others (WiSE-FT: Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022).
    """

    epochs: int
    batch: int
    rate: float
    decay: float
    hidden: int
    seed: int
    way: float = 1.0


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted net and the path vectors fitted with it, shape (paths, dimensions)."""

    net: PlanScorerNet
    free: Tensor

    def to_bytes(self) -> bytes:
        """Return the weights as safetensors."""
        return save({**self.net.state_dict(), "free": self.free})

    @classmethod
    def from_bytes(cls, content: bytes, hidden: int) -> Fitted:
        """Return the scorer that `to_bytes` wrote; its net has `hidden` hidden units."""
        tensors = load(content)
        free = tensors.pop("free")
        net = PlanScorerNet(ScorerSize(free.shape[1], len(FEATURES), hidden))
        net.load_state_dict(tensors)
        return cls(net, free)

    def towards(self, wordings: Vectors, way: float) -> Fitted:
        """Return the scorer at a share of the way from the unlearned weights to these (`FitSettings.way`)."""
        start = unlearned(wordings, self.net.size.hidden)
        moved = self.free - start.free
        return _on_the_way(copy.deepcopy(self.net), start.net.state_dict(), start.free, moved, way)

    def sums(self, lists: PlanLists, chosen: Indices) -> Iterator[tuple[Vectors, float]]:
        """Yield, for each chosen question, the sums of its plans and the sum of the plan without hops."""
        self.net.eval()
        with torch.inference_mode():
            path_vectors = self.net.map_paths(self.free)
            for first in range(0, len(chosen), 256):
                table = lists.table(chosen[first : first + 256])
                plans, texts = self.net(table, path_vectors)
                ends = np.searchsorted(table.question, np.arange(1, len(texts)))
                yield from zip(np.split(plans.numpy(), ends), texts.tolist(), strict=True)


def unlearned(wordings: Vectors, hidden: int) -> Fitted:
    """Return an untrained scorer; `wordings` are the vectors of the paths' wordings."""
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
    names: Sequence[str] = (),
    log: Callable[[str], None] = lambda line: None,
) -> Fitted:
    """Return a scorer fitted on the chosen questions. The same seed gives the same weights.

    `tick` receives the number of each pass and its mean loss. `check` is called before each step and raises
    an exception when the fit must stop. A loss that is no number ends the fit with the weights from before the pass,
    and `log` names the batch by the `names` of the questions. Raises StageError if that is the first pass.
    """
    # The first optimiser of a process takes a second or two to load.
    check()
    with seeded(how.seed):
        net = unlearned(wordings, how.hidden).net
    start = copy.deepcopy(net.state_dict())
    path_vectors = torch.from_numpy(wordings)
    moved = torch.nn.Parameter(torch.zeros_like(path_vectors))
    maps = {id(net.ask.weight), id(net.tell.weight)}
    optimizer = adam_w([
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
        before = copy.deepcopy(net.state_dict()), moved.detach().clone()
        for first in range(0, len(order), how.batch):
            check()
            batch = order[first : first + how.batch]
            table = lists.table(batch)
            plans, texts = net(table, net.map_paths(path_vectors + moved))
            labels, teaching = torch.from_numpy(lists.labels(batch)), torch.from_numpy(lists.teaching(batch))
            loss = plan_loss(plans, texts, labels, torch.from_numpy(table.question), teaching)
            if not math.isfinite(loss.item()):
                told = ", ".join(repr(names[at]) if at < len(names) else f"number {at}" for at in batch[:_NAMED])
                more = f" and {len(batch) - _NAMED} more" if len(batch) > _NAMED else ""
                wrong = f"The loss was {loss.item():g} in pass {epoch + 1}, in the batch of {told}{more}."
                if not epoch:
                    reason = f"{wrong} There is no earlier pass to fall back to; lower the rate"
                    raise StageError("planner", reason, permanent=True)
                log(f"{wrong} Learning stopped at the pass before.")
                net.load_state_dict(before[0])
                return _on_the_way(net, start, path_vectors, before[1], how.way)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            lost += loss.item() * len(batch) / len(order)
        tick(epoch + 1, lost)
    return _on_the_way(net, start, path_vectors, moved.detach(), how.way)


def _on_the_way(
    net: PlanScorerNet, start: Mapping[str, Tensor], path_vectors: Tensor, moved: Tensor, way: float
) -> Fitted:  # fmt: skip
    """Return the scorer at a share of the way from its weights at the start to those of `net` (`FitSettings.way`)."""
    with torch.no_grad():
        for name, one in net.named_parameters():
            one.copy_(torch.lerp(start[name], one, way))
    return Fitted(net, path_vectors + way * moved)


def plan_loss(plans: Tensor, texts: Tensor, labels: Tensor, question: Tensor, teaching: Tensor | None = None) -> Tensor:
    """Return the mean loss over the questions, given the sums and labels of their plans.

    `teaching`, shape (questions,), weighs the questions; without it, all count the same.

    The probabilities p are one softmax over all plans of a question and the plan without hops. A cross-entropy against
    F1 as a distribution would raise every plan that finds answers. This includes plans that find them by accident: a
    film's director and its writer are often the same person. This loss only requires that likely plans find answers.
    With b the best F1 of a question, it is -b log(sum of p · F1 / b) - (1 - b) log p(no hops). A probability then says
    how much of the answers the graph finds.

    Shapes: `plans`, `labels` and `question` (plans,), with `question` sorted; `texts` (questions,).
    """
    count = len(texts)
    best = torch.zeros(count).scatter_reduce(0, question, labels, "amax")
    peak = texts.detach().scatter_reduce(0, question, plans.detach(), "amax")
    weight, ground = torch.exp(plans - peak[question]), torch.exp(texts - peak)
    total = ground + torch.zeros(count).index_add(0, question, weight)
    right = torch.zeros(count).index_add(0, question, weight * labels / best.clamp(min=_LEAST)[question])
    loss: Tensor = -(best * torch.log(right / total + _LEAST) + (1 - best) * (texts - peak - torch.log(total)))
    if teaching is None:
        return loss.mean()
    return (loss * teaching).sum() / teaching.sum().clamp(min=1.0)
