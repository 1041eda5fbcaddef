"""Contrastive training of an encoder that questions and documents share (mFAR; docs/retrieval.md).

Each step draws for its questions one answer each and some hard negatives. The candidates of all questions together are
compared with every question: softmax cross-entropy of its answer over cosine / temperature. A node's cosine is the
weighted mean over the kinds of vectors, whose weights are learned, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn import functional

from search.domain.run_context import RunContext
from search.neural.devices import computes_bfloat16, seeded
from search.neural.field_retriever import padded, tokenized
from search.neural.memory import within_memory
from training.learning.encoder_lists import EncoderAsked, Texts
from training.learning.stepwise import HowToStep, StepwiseFit

AT_ONCE = 32
"""Texts that are embedded at once where nothing is learned."""


class EncoderNet(nn.Module):
    """The encoder of questions and documents (`body`), and the weights of the kinds of vectors before their softmax."""

    def __init__(self, body: SentenceTransformer, kinds: Sequence[str], tokens: int) -> None:
        super().__init__()
        self.body = body
        self.kinds = tuple(kinds)
        self.tokens = min(tokens, int(body.max_seq_length or tokens))
        self.weigh = nn.Parameter(torch.zeros(len(self.kinds)))

    def forward(self, tokens: Sequence[list[int]]) -> Tensor:
        """Return the unit-length vectors of texts given as tokens, (texts, dimensions), in single precision."""
        device = self.weigh.device
        ids, mask = padded(self.body, tokens)
        with torch.autocast(device.type, torch.bfloat16, enabled=computes_bfloat16(device.type)):
            found = self.body({"input_ids": ids.to(device), "attention_mask": mask.to(device)})
        return functional.normalize(found["sentence_embedding"].float(), dim=1)

    def read(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts; a long one is cut at its end, which keeps the token of the end."""
        if not texts:
            return []
        room = self.tokens - 1
        return [ids if len(ids) <= self.tokens else [*ids[:room], ids[-1]] for ids in tokenized(self.body, texts)]

    def cosines(self, questions: Tensor, documents: Tensor, there: Tensor) -> Tensor:
        """Return the cosine of each question with each node, (questions, nodes), the weighted mean over the kinds.

        `documents`: (nodes, kinds, dimensions); `there`: (nodes, kinds), whether a node has a text of the kind. A kind
        that a node does not have is left out of its mean.
        """
        return weighted_cosines(self.weigh, questions, documents, there)


def weighted_cosines(weigh: Tensor, questions: Tensor, documents: Tensor, there: Tensor) -> Tensor:
    """Return what `EncoderNet.cosines` describes, for weights of the kinds before their softmax, (kinds,)."""
    weights = functional.softmax(weigh, 0) * there
    weights = weights / weights.sum(1, keepdim=True).clamp(min=1e-6)
    return torch.einsum("qd,nkd,nk->qn", questions, documents, weights)


@dataclass(frozen=True)
class Batch:
    """The texts of a step as tokens, each once, and where they belong.

    `questions` are rows of texts; `documents`, (nodes, kinds), too, where -1 stands for a missing text. `barred`,
    (questions, nodes), are answers of a question other than the one it is to find, which is node `right[question]`.
    """

    texts: list[list[int]]
    questions: NDArray[np.int64]
    documents: NDArray[np.int64]
    barred: NDArray[np.bool_]
    right: NDArray[np.int64]


class EncoderFit(StepwiseFit[EncoderAsked]):
    """A fit of an encoder on questions with their answers and hard negatives."""

    model: EncoderNet

    def __init__(
        self,
        model: EncoderNet,
        questions: Sequence[EncoderAsked],
        texts: Texts,
        how: HowToStep,
        hard: int,
        temperature: float,
        run: RunContext,
        figure: Callable[[], float],
        key: str,
    ) -> None:
        super().__init__(model, questions, how, run, figure, key)
        self.read = texts
        self.hard = hard
        self.temperature = temperature

    @property
    def guessing(self) -> float:
        """The loss of equal scores."""
        return math.log(self.how.batch * (1 + self.hard))

    @property
    def one_text(self) -> str:
        """A text of the largest length."""
        return f"text of {self.model.tokens} tokens"

    def losses(self, step: int, chosen: Sequence[EncoderAsked], at_once: int) -> Sequence[float]:
        """Add the gradient of the step's mean loss; see the base class.

        If there are more than `at_once` texts, they are embedded twice: first without gradients, for the loss and its
        derivative by each vector, then with gradients, part by part (Gao et al. 2021, gradient cache). The seed decides
        the dropout, so that both passes agree.
        """
        self.run.check()
        chance = np.random.default_rng([self.how.seed, 3, step])
        batch = self._batch(chosen, chance)
        seed = int(chance.integers(2**62))
        order = sorted(range(len(batch.texts)), key=lambda at: len(batch.texts[at]))
        parts = [order[at : at + at_once] for at in range(0, len(order), at_once)]
        place = torch.from_numpy(np.argsort(np.array(order)))
        if len(parts) == 1:
            each = self._each(self._embedded(batch, order, seed)[place], batch)
            each.mean().backward()
            return [float(one) for one in each.detach()]
        with torch.no_grad():
            found = torch.cat([self._embedded(batch, part, seed + at) for at, part in enumerate(parts)])
        found.requires_grad_()
        each = self._each(found[place], batch)
        each.mean().backward()
        assert found.grad is not None
        slopes = found.grad.split([len(part) for part in parts])
        for at, (part, slope) in enumerate(zip(parts, slopes, strict=True)):
            self.run.check()
            self._embedded(batch, part, seed + at).backward(slope)
        return [float(one) for one in each.detach()]

    def _embedded(self, batch: Batch, places: Sequence[int], seed: int) -> Tensor:
        with seeded(seed, self.model.weigh.device):
            found: Tensor = self.model([batch.texts[at] for at in places])
        return found

    def _each(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return the loss of each question, given the vectors of the batch's texts."""
        device = vectors.device
        documents = torch.from_numpy(batch.documents).to(device)
        there = documents >= 0
        found = vectors[documents.clamp(min=0)]
        cosines = self.model.cosines(vectors[torch.from_numpy(batch.questions).to(device)], found, there)
        scores = (cosines / self.temperature).masked_fill(torch.from_numpy(batch.barred).to(device), -torch.inf)
        return functional.cross_entropy(scores, torch.from_numpy(batch.right).to(device), reduction="none")

    def _batch(self, chosen: Sequence[EncoderAsked], chance: np.random.Generator) -> Batch:
        """Return the texts of a step."""
        drawn = [one.drawn(self.hard, chance) for one in chosen]
        nodes = list(dict.fromkeys(key for keys in drawn for key in keys))
        by_node = self.read.of(nodes, self.run.limit)
        said = list(dict.fromkeys([*(one.text for one in chosen), *(text for own in by_node for text in own if text)]))
        row = {text: at for at, text in enumerate(said)}
        barred = np.array([[key in one.answers for key in nodes] for one in chosen])
        right = np.array([nodes.index(keys[0]) for keys in drawn], dtype=np.int64)
        barred[np.arange(len(chosen)), right] = False
        return Batch(
            self.model.read(said),
            np.array([row[one.text] for one in chosen], dtype=np.int64),
            np.array([[row[text] if text else -1 for text in own] for own in by_node], dtype=np.int64),
            barred, right,
        )  # fmt: skip


def embedded(net: EncoderNet, texts: Sequence[str], run: RunContext) -> Tensor:
    """Return the vectors of texts, (texts, dimensions), without gradients; similar lengths are computed together."""
    tokens = net.read(texts)
    order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
    found = torch.zeros((len(texts), int(net.body.get_embedding_dimension() or 0)))

    def embed(part: Sequence[int]) -> None:
        found[part] = net([tokens[at] for at in part]).cpu()

    with torch.inference_mode():
        for first in range(0, len(order), AT_ONCE):
            run.check()
            within_memory(order[first : first + AT_ONCE], embed, "training", f"one text of {net.tokens} tokens")
    return found


def ranks(
    net: EncoderNet, questions: Sequence[EncoderAsked], pool: Sequence[int], texts: Texts, run: RunContext
) -> list[NDArray[np.int64]]:
    """Return the ranks of each question's answers among the nodes of a pool, from 1, ascending; equal ones by key."""
    was = net.training
    net.eval()
    by_node = texts.of(pool, run.limit)
    flat = [text for own in by_node for text in own]
    vectors = embedded(net, [text or "." for text in flat], run).view(len(pool), len(net.kinds), -1)
    there = torch.tensor([[bool(text) for text in own] for own in by_node])
    asked = embedded(net, [one.text for one in questions], run)
    place = {key: at for at, key in enumerate(pool)}
    found = []
    with torch.inference_mode():
        weights = net.weigh.cpu()
        for at, one in enumerate(questions):
            scores = weighted_cosines(weights, asked[at : at + 1], vectors, there)[0].numpy()
            own = np.array([place[key] for key in one.answers])
            above = (scores[None] > scores[own][:, None]).sum(1)
            ties = (scores[None] == scores[own][:, None]) & (np.arange(len(pool))[None] < own[:, None])
            found.append(np.sort(1 + above + ties.sum(1)).astype(np.int64))
    net.train(was)
    return found
