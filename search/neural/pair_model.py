"""Models that read a question and a document together. The same forward pass trains and serves.

A model turns a question and documents into pairs (tokens), and pairs into scores. `PairScorer` serves it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from search.domain.errors import StageError
from search.domain.trace import Limit
from search.neural.memory import within_memory
from search.neural.threads import threads
from search.text import DocumentForm

TOKENS_A_BATCH = {"cpu": 1024, "cuda": 131_072}
"""Tokens of a batch, padding included, by device."""
AT_ONCE = {"cpu": 10, "cuda": 128}
"""Documents in one call of a scorer, by device."""


class Pair(NamedTuple):
    """The tokens of a question with a document; the document begins at position `second`."""

    ids: tuple[int, ...]
    second: int


class PairModel(nn.Module):
    """A network that scores pairs, with the tokenizer that makes them. `tokens` is the largest length of a pair."""

    tokens: int
    tokenizer: Any

    def __init__(self, tokenizer: Any, tokens: int) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.tokens = tokens
        # A fast tokenizer raises an error if two threads change its settings at the same time.
        self._tokenizing = threading.Lock()

    def pairs(self, question: str, documents: Sequence[str]) -> list[Pair]:
        """Return the tokens of the question with each document, each of at most `tokens` tokens."""
        raise NotImplementedError

    def forward(self, pairs: Sequence[Pair]) -> Tensor:
        """Return the scores of pairs, float32, shape (len(pairs),)."""
        raise NotImplementedError

    def served(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores of `forward` in the form in which they are shown; the order stays."""
        return scores

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts, without special ones."""
        if not texts:
            return []
        with self._tokenizing:
            found: list[list[int]] = self.tokenizer(
                list(texts), add_special_tokens=False, truncation=False, padding=False, verbose=False
            )["input_ids"]
        return found

    def padded(self, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
        """Return ids, mask, and the mask of the documents, each of shape (pairs, longest pair), on the device."""
        longest = max(len(pair.ids) for pair in pairs)
        ids = torch.full((len(pairs), longest), self.tokenizer.pad_token_id or 0)
        mask, document = torch.zeros_like(ids), torch.zeros_like(ids)
        for row, pair in enumerate(pairs):
            ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
            mask[row, : len(pair.ids)] = 1
            document[row, pair.second : len(pair.ids)] = 1
        device = self.device
        return ids.to(device), mask.to(device), document.to(device)


class PairScorer:
    """A scorer that asks a model (interfaces.Scorer). Several threads may call it at the same time."""

    def __init__(
        self, name: str, model: PairModel, form: DocumentForm | None = None, mix: tuple[float, float] | None = None
    ) -> None:
        self.name = name
        self.form = form
        self.mix = mix
        self.model = model.eval()
        kind = model.device.type
        self.at_once = AT_ONCE.get(kind, AT_ONCE["cpu"])
        self._tokens_a_batch = TOKENS_A_BATCH.get(kind, TOKENS_A_BATCH["cpu"])
        self._several = kind == "cpu"

    def score(self, question: str, documents: Sequence[str], limit: Limit) -> NDArray[np.float64]:
        """Return one score for each document; documents of similar length are computed together.

        On a CPU each of torch's threads computes whole batches. Threads that share every operation of one batch would
        wait for each other after each of them.

        A batch that a GPU's memory does not hold is divided, and later batches are smaller.

        Raises DeadlineExceeded if the time ran out between two batches, SearchCancelled, and StageError if the model
        fails, also because the memory does not suffice for one document.
        """
        limit.check("rerank")
        pairs = self.model.pairs(question, documents)
        scores = np.empty(len(pairs), dtype=np.float64)
        workers = torch.get_num_threads() if self._several else 1
        some = list(batches([len(pair.ids) for pair in pairs], self._tokens_a_batch, workers))

        def compute(part: Sequence[int]) -> None:
            limit.check("rerank")
            with torch.inference_mode():
                scores[part] = self.model([pairs[at] for at in part]).double().cpu().numpy()

        def compute_all(batch: list[int]) -> None:
            fitting = within_memory(batch, compute, "rerank", f"{self.name} and one document")
            if fitting < len(batch):
                self._tokens_a_batch = min(self._tokens_a_batch, fitting * len(pairs[batch[-1]].ids))

        def compute_alone(batch: list[int]) -> None:
            with threads(1):
                compute_all(batch)

        try:
            if workers == 1 or len(some) == 1:
                for batch in some:
                    compute_all(batch)
            else:
                with ThreadPoolExecutor(workers) as pool:
                    # The longest first: the threads end at about the same time.
                    list(pool.map(compute_alone, reversed(some)))
        except RuntimeError as error:
            raise StageError("rerank", f"{self.name} failed ({_line(error)})", permanent=False) from error
        return self.model.served(scores)


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def batches(lengths: Sequence[int], tokens: int, workers: int = 1) -> Iterator[list[int]]:
    """Yield positions in batches of at most `tokens` tokens, padding included; the shortest come first.

    For several workers the batches are so small that each worker gets as many of them, of about the same size.
    """
    total = sum(lengths)
    share = total / (workers * max(1, math.ceil(total / (workers * tokens)))) if workers > 1 else tokens
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        full = (len(batch) + 1) * lengths[at] > tokens or len(batch) * lengths[at] >= share
        if batch and full:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
