"""Fits the retriever of fields over frozen documents (docs/retrieval.md, "Learning")."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from search.domain.errors import StageError
from search.neural.devices import computes_bfloat16, kind_of, seeded
from search.neural.field_retriever import FieldNet, on_device, padded
from search.neural.memory import out_of_memory, release_memory, within_memory
from training.learning.devices import adam_w
from training.learning.retriever_data import RetrieverAsked, RetrieverNodes, entries_of, scores_of

Indices = NDArray[np.int64]
WARM = 0.1
"""Share of the steps that raise the learning rate. A linear decay to 0 is applied over all steps."""
CLIP = 1.0
"""Largest length of the gradient."""
EXPLODED = 1e3
"""Loss above which a training has gone wrong: guessing among a million nodes has a loss of 14."""
_NAMED = 5
TOGETHER = 8
"""Questions of like length that the encoder's model reads together. A whole batch, padded to its longest question, took
1.75 times as long on a CPU."""
_WORTH = 0.5
"""Score, of 1 at most, from which an entry of a list is among the nodes of a sampled loss."""


class Diverged(ArithmeticError):
    """The loss was not a finite number, or exploded; the weights are those from before the pass."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Settings of a fit; `retriever_settings` explains them. `sample` is 0 if the loss is over all nodes."""

    batch: int
    rate: float
    layers: int
    layer_rate: float
    weight_rate: float
    sample: int
    dropout: float
    seed: int
    device: str = "cpu"


class Trainer:
    """Trains one net, pass by pass. The same seed gives the same weights, also from a saved state."""

    def __init__(self, net: FieldNet, nodes: RetrieverNodes, how: FitSettings, steps: int) -> None:
        self.net = net = on_device(net, how.device)
        self._nodes = nodes
        self._how = how
        self._steps = max(1, steps)
        self._at_once = how.batch
        tower, heads, weights = net.learnable(how.layers)
        self._learned: list[nn.Parameter] = [*tower, *heads, *weights]
        groups: list[dict[str, Any]] = [
            {"params": params, "lr": rate, "weight_decay": 0.01}
            for params, rate in ((tower, how.layer_rate), (heads, how.rate), (weights, how.weight_rate))
            if params
        ]
        self._optimizer = adam_w(groups)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda step: min(1.0, (step + 1) / (WARM * self._steps)) * max(0.0, 1 - step / self._steps)
        )
        self._dense = torch.tensor([net.shape.lists.index(name) for name in net.shape.dense], device=how.device)

    def one_pass(
        self,
        questions: Sequence[RetrieverAsked],
        chosen: Indices,
        number: int,
        names: Sequence[str],
        check: Callable[[], None],
    ) -> float:
        """Learn from the chosen questions once, and return the mean loss. `number` counts the passes.

        Raises Diverged, having put the weights back, and what `check` raises before each step.
        """
        chance = np.random.default_rng((self._how.seed, number))
        before = [parameter.detach().clone() for parameter in self._learned]
        order, total = chance.permutation(chosen), 0.0
        for first in range(0, len(order), self._how.batch):
            check()
            batch = order[first : first + self._how.batch]
            with seeded(int(chance.integers(2**31)), self._how.device):
                loss = self._step([questions[at] for at in batch], chance)
            if not math.isfinite(loss) or loss > EXPLODED:
                with torch.no_grad():
                    for parameter, value in zip(self._learned, before, strict=True):
                        parameter.copy_(value)
                named = ", ".join(names[at] for at in batch[:_NAMED])
                more = f" and {len(batch) - _NAMED} more" if len(batch) > _NAMED else ""
                raise Diverged(f"The loss was {loss:g} in pass {number + 1}, in the batch of {named}{more}.")
            total += loss * len(batch) / len(order)
        return total

    @property
    def seed(self) -> int:
        """The seed of the order of the questions and of what dropout hides."""
        return self._how.seed

    @property
    def at_once(self) -> int:
        """The number of questions whose scores of all nodes are computed at once."""
        return max(1, min(32, 4_000_000 // max(1, len(self._nodes))))

    def scores(self, questions: Sequence[RetrieverAsked]) -> Tensor:
        """Return the score of every node for every question, (questions, nodes)."""
        with torch.inference_mode():
            return self._scores(questions, self._nodes, None)

    def state(self) -> bytes:
        """Return weights, optimizer and schedule, to go on from."""
        content = io.BytesIO()
        kept = {
            "weights": [parameter.detach().cpu() for parameter in self._learned],
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict()["last_epoch"],
        }
        torch.save(kept, content)
        return content.getvalue()

    def restore(self, state: bytes) -> None:
        """Go on from what `state` returned."""
        kept = torch.load(io.BytesIO(state), weights_only=True, map_location="cpu")
        self.weights = kept["weights"]
        self._optimizer.load_state_dict(kept["optimizer"])
        self._schedule.last_epoch = kept["schedule"]
        for group, base, turn in zip(
            self._optimizer.param_groups, self._schedule.base_lrs, self._schedule.lr_lambdas, strict=True
        ):
            group["lr"] = base * turn(kept["schedule"])

    @property
    def weights(self) -> list[Tensor]:
        """Copies of the trained parameters."""
        return [parameter.detach().clone() for parameter in self._learned]

    @weights.setter
    def weights(self, values: Sequence[Tensor]) -> None:
        with torch.no_grad():
            for parameter, value in zip(self._learned, values, strict=True):
                parameter.copy_(value)

    def _step(self, questions: Sequence[RetrieverAsked], chance: np.random.Generator) -> float:
        """Learn from one batch and return its loss. A batch for which the GPU lacks memory is divided.

        Raises StageError if the memory does not suffice for one question.
        """
        columns = self._columns(questions, chance)
        self.net.dropout = self._how.dropout
        while (loss := self._backward_if_it_fits(questions, columns)) is None:
            # Not where the error is handled: its traceback holds the tensors of the pass that failed.
            self._optimizer.zero_grad()
            release_memory()
            self._at_once = -(-min(self._at_once, len(questions)) // 2)
        self.net.dropout = 0.0
        if math.isfinite(loss):
            nn.utils.clip_grad_norm_(self._learned, CLIP)
            self._optimizer.step()
            self._schedule.step()
        return loss

    def _backward_if_it_fits(self, questions: Sequence[RetrieverAsked], columns: Indices | None) -> float | None:
        self._optimizer.zero_grad()
        try:
            return self._backward(questions, columns)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            if min(self._at_once, len(questions)) == 1:
                reason = f"the memory of {self._how.device} does not suffice for one question; set device=cpu"
                raise StageError("retriever", reason, permanent=True) from error
            return None

    def _backward(self, questions: Sequence[RetrieverAsked], columns: Indices | None) -> float:
        total = 0.0
        nodes = self._nodes if columns is None else self._nodes.at(torch.from_numpy(columns).to(self._how.device))
        for first in range(0, len(questions), self._at_once):
            part = questions[first : first + self._at_once]
            right = _right(part, len(nodes), columns).to(self._how.device)
            loss = list_loss(self._scores(part, nodes, columns), right)
            share = loss * (len(part) / len(questions))
            share.backward()
            total += float(share.detach())
        return total

    def _scores(self, questions: Sequence[RetrieverAsked], nodes: RetrieverNodes, columns: Indices | None) -> Tensor:
        device = self._how.device
        queries = self.net.queries(self._embedded(questions))
        return scores_of(queries, self._dense, nodes, entries_of(questions, device, columns))

    def _embedded(self, questions: Sequence[RetrieverAsked]) -> Tensor:
        """Return the vectors of questions, (questions, dimensions); those of an unchanged model are known."""
        device = self._how.device
        if not self._how.layers:
            return torch.from_numpy(np.stack([one.vector for one in questions])).to(device)
        order = np.argsort([len(one.tokens) for one in questions], kind="stable")
        kind = kind_of(device)
        together = TOGETHER if kind == "cpu" else len(order)
        half = torch.autocast(kind, torch.bfloat16, enabled=computes_bfloat16(device))
        found: list[Tensor] = []
        for first in range(0, len(order), together):
            ids, mask = padded(self.net.tower, [questions[place].tokens for place in order[first : first + together]])
            with half:
                read = self.net.tower({"input_ids": ids.to(device), "attention_mask": mask.to(device)})
            found.append(read["sentence_embedding"])
        return torch.cat(found)[torch.from_numpy(np.argsort(order)).to(device)]

    def _columns(self, questions: Sequence[RetrieverAsked], chance: np.random.Generator) -> Indices | None:
        """Return the sorted keys that the loss is over: answers, all entries, and a sample; None for all nodes."""
        if not self._how.sample:
            return None
        drawn = chance.integers(0, len(self._nodes), self._how.sample)
        own = [part for one in questions for part in (one.answers, one.keys[one.scores > _WORTH])]
        return np.unique(np.concatenate([drawn, *own])).astype(np.int64)


def mean_ranks(
    members: Sequence[Trainer], questions: Sequence[RetrieverAsked], check: Callable[[], None] = lambda: None
) -> list[NDArray[np.int64]]:
    """Return the ranks of each question's answers among all nodes by the mean of the members' scores.

    They count from 1, ascending; equal scores are ordered by key.
    """
    found: list[NDArray[np.int64]] = []

    def rank(part: Sequence[RetrieverAsked]) -> None:
        scores = torch.stack([one.scores(part) for one in members]).mean(dim=0).cpu().numpy()
        found.extend(ranks_of(row, one.answers) for row, one in zip(scores, part, strict=True))

    few = members[0].at_once
    for first in range(0, len(questions), few):
        check()
        part = questions[first : first + few]
        within_memory(part, rank, "retriever", "the scores of all nodes for one question")
    return found


def list_loss(scores: Tensor, right: Tensor) -> Tensor:
    """Return the mean over questions of -(log of the answers' total probability + mean of their logs) / 2.

    The first term asks for any answer at the top, the second for all of them. `scores` and `right`: (questions, nodes).
    """
    logs = torch.log_softmax(scores, dim=1)
    whole = torch.logsumexp(logs.masked_fill(~right, -torch.inf), dim=1)
    each = logs.masked_fill(~right, 0).sum(1) / right.sum(1)
    return -(whole + each).mean() / 2


def ranks_of(scores: NDArray[np.float32], answers: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the ranks of some nodes by their scores, from 1, ascending; equal scores are ordered by key."""
    keys = np.arange(len(scores))
    found = [1 + int((scores > scores[key]).sum() + ((scores == scores[key]) & (keys < key)).sum()) for key in answers]
    return np.array(sorted(found), dtype=np.int64)


def _right(questions: Sequence[RetrieverAsked], nodes: int, columns: Indices | None) -> Tensor:
    right = torch.zeros((len(questions), nodes), dtype=torch.bool)
    for row, one in enumerate(questions):
        places = one.answers if columns is None else np.searchsorted(columns, one.answers)
        right[row, torch.from_numpy(places.astype(np.int64))] = True
    return right
