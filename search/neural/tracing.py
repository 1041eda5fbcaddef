"""Quick forward passes of sentence models on a CPU: with packed weights, else traced, without Python in between."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from sentence_transformers import SentenceTransformer

from search.neural.packed_bert import PackedEmbedding, packed_bert
from search.neural.sentence_models import transformer_of

Forward = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Token ids and attention mask, both (texts, tokens) → one row a text."""

_TRACED = (2, 12)
_HELD_AGAINST = ((1, 5), (3, 33), (5, 64))
"""Shapes other than the traced one. A trace that fixed one of its sizes gives other rows for them."""
_TOLERANCE = 1e-5


class Embedding(torch.nn.Module):
    """A sentence transformer as a function of tensors, so that it can be traced."""

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the vectors of texts given as tokens, shape (texts, dimensions), without normalising them."""
        embedded: torch.Tensor = self.model({"input_ids": ids, "attention_mask": mask})["sentence_embedding"]
        return embedded


def quick(model: SentenceTransformer) -> Forward:
    """Return the quickest forward pass of a model on a CPU; all give the same vectors."""
    try:
        packed = packed_bert(transformer_of(model))
    except ValueError:
        packed = None
    return traced(model) if packed is None else PackedEmbedding(model, packed)


def traced(model: SentenceTransformer) -> Forward:
    """Return the model's forward pass: the traced one if it gives the same rows as the model for texts of any shape.

    A model whose code branches on its input cannot be traced; then the model itself is returned.
    """
    plain = Embedding(model).eval()
    with torch.inference_mode(), _quietly():
        try:
            quick: Forward = torch.jit.trace(plain, _example(*_TRACED), check_trace=False)
            same = all(_agree(plain, quick, _example(*shape)) for shape in _HELD_AGAINST)
        except (RuntimeError, IndexError):  # IndexError: the vocabulary is smaller than that of the examples
            return plain
    return quick if same else plain


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress warnings about deprecated attributes; tracing reads every attribute of a model."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _agree(plain: Forward, quick: Forward, example: tuple[torch.Tensor, torch.Tensor]) -> bool:
    return torch.allclose(plain(*example), quick(*example), atol=_TOLERANCE)


def _example(texts: int, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids that every vocabulary has. If there are several texts, the first is padded."""
    ids = torch.arange(texts * tokens).reshape(texts, tokens) % 90 + 5
    mask = torch.ones_like(ids)
    if texts > 1:
        mask[0, tokens // 2 :] = 0
    return ids, mask
