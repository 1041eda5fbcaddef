"""The input of the retriever's training: the nodes' vectors, and the tokens and lists of each question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from search.fields.names import kind_of
from search.fields.scores import FieldScores, best_of
from search.interfaces import Keys, Vectors
from search.neural.field_retriever import Queries, RetrieverShape
from training.data.examples import Example
from training.learning.task import LearningTools

KEPT = 1_000
"""Entries of each list without vectors that are kept for a question. In a search the rest is scored too; it is the tail
of the matches of a word."""
_NEVER = -1e4
"""Score of nodes that cannot be answers."""


@dataclass(frozen=True, eq=False)
class RetrieverAsked:
    """One question: its tokens, its answers' keys, and the entries of its lists without vectors.

    `vector` is that of the encoder's model, (dimensions,), for trainings that do not change the model.
    `entries` holds the place of each entry's list among the retriever's lists, `keys` its node, `scores` its score.
    """

    tokens: list[int]
    vector: Vectors
    answers: Keys
    entries: NDArray[np.int16]
    keys: Keys
    scores: NDArray[np.float16]


@dataclass(frozen=True, eq=False)
class RetrieverLesson:
    """Questions in the form that is learned from, and the examples that they are."""

    asked: Sequence[RetrieverAsked]
    examples: Sequence[Example]

    def __len__(self) -> int:
        return len(self.asked)

    @property
    def names(self) -> list[str]:
        """How reports name each question."""
        return [repr(example.id) for example in self.examples]


@dataclass(frozen=True, eq=False)
class RetrieverNodes:
    """What the queries are compared with.

    `rows`, (nodes, dense lists x dimensions), holds each node's vectors one after the other, zero where it has none.
    `types` are type codes, (nodes,), and `barred` says which nodes cannot be answers.
    """

    rows: Tensor
    types: Tensor
    barred: Tensor

    def __len__(self) -> int:
        return len(self.types)

    def at(self, keys: Tensor) -> RetrieverNodes:
        """Return some of the nodes."""
        return RetrieverNodes(self.rows[keys], self.types[keys], self.barred[keys])


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of the lists of several questions: row of the question, list, position of the node, and score."""

    row: Tensor
    entries: Tensor
    at: Tensor
    scores: Tensor


def nodes_of(tools: LearningTools, shape: RetrieverShape, dtype: torch.dtype, device: str) -> RetrieverNodes:
    """Return the vectors of all nodes. Raises StageError if the release has no matrix of a kind."""
    count, dimensions = tools.adjacency.size, tools.encoder.dimensions
    rows = torch.zeros((count, len(shape.dense) * dimensions), dtype=dtype)
    for place, name in enumerate(shape.dense):
        matrix = tools.vectors.matrix(kind_of(name) or "")
        columns = slice(place * dimensions, (place + 1) * dimensions)
        rows[torch.from_numpy(matrix.keys.astype(np.int64)), columns] = torch.from_numpy(matrix.rows).to(dtype)
    types = tools.adjacency.types.astype(np.int64)
    answerable = np.array([label.answerable for label in tools.schema.node_types], dtype=bool)
    found = RetrieverNodes(rows, torch.from_numpy(types), torch.from_numpy(~answerable[types]))
    return RetrieverNodes(found.rows.to(device), found.types.to(device), found.barred.to(device))


def asked(
    text: str,
    tokens: list[int],
    vector: Vectors,
    answers: Keys,
    scores: FieldScores,
    shape: RetrieverShape,
    check: Callable[[], None],
) -> RetrieverAsked:
    """Return a question with the entries of its lists."""
    found = {name: best_of(one, KEPT) for name, one in scores.of(text, shape.lists, check).items()}
    places = [np.full(len(keys), shape.lists.index(name), dtype=np.int16) for name, (keys, _) in found.items()]
    return RetrieverAsked(
        tokens, vector, answers, _joined(places, np.int16), _joined([keys for keys, _ in found.values()], np.int32),
        _joined([own.astype(np.float16) for _, own in found.values()], np.float16),
    )  # fmt: skip


def entries_of(questions: Sequence[RetrieverAsked], device: str, columns: NDArray[np.int64] | None = None) -> Entries:
    """Return the entries of several questions; with `columns` (sorted keys), only those of these nodes."""
    rows = np.repeat(np.arange(len(questions)), [len(one.keys) for one in questions])
    lists = _joined([one.entries for one in questions], np.int16).astype(np.int64)
    keys = _joined([one.keys for one in questions], np.int32).astype(np.int64)
    scores = _joined([one.scores for one in questions], np.float16).astype(np.float32)
    if columns is not None:
        places = np.minimum(np.searchsorted(columns, keys), len(columns) - 1)
        kept = columns[places] == keys
        rows, lists, keys, scores = rows[kept], lists[kept], places[kept], scores[kept]
    parts = (torch.from_numpy(part).to(device) for part in (rows, lists, keys, scores))
    return Entries(*parts)


def scores_of(queries: Queries, dense: Tensor, nodes: RetrieverNodes, entries: Entries) -> Tensor:
    """Return the score of every node for every question, (questions, nodes): the sum that a search computes.

    `dense` holds the places of the dense lists among all lists.
    """
    weighted = queries.vectors * queries.weights[:, dense, None]
    sums = (weighted.flatten(1).to(nodes.rows.dtype) @ nodes.rows.T).float() + queries.types[:, nodes.types]
    parts = queries.weights[entries.row, entries.entries] * entries.scores
    flat = sums.reshape(-1).index_add(0, entries.row * len(nodes) + entries.at, parts)
    return flat.view(sums.shape).masked_fill(nodes.barred, _NEVER)


def _joined(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
