"""The probability of each node type as the type of the answer, by a multinomial logistic regression.

Its inputs are the question's words, single and in pairs, hashed into buckets, and the question's vector. Training and
searches use these functions alike; a search needs no library besides numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Keys, Vectors
from search.language.words import words
from search.signals.table import Column

BUCKETS = 1 << 14
"""Buckets that words and pairs of words are hashed into."""

Floats = NDArray[np.float32]


def buckets(text: str) -> NDArray[np.int64]:
    """Return the distinct buckets of a text's words and pairs of neighbouring words, sorted."""
    said = words(text)
    grams = {*said, *(f"{one} {other}" for one, other in pairwise(said))}
    return np.array(sorted({crc32(gram.encode()) % BUCKETS for gram in grams}), dtype=np.int64)


def bag(text: str) -> tuple[NDArray[np.int64], Floats]:
    """Return the buckets of a text and their values, which have a sum of squares of 1."""
    found = buckets(text)
    return found, np.full(len(found), 1.0 / max(len(found), 1) ** 0.5, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class AnswerTypes:
    """A fitted model: `types` names the rows of the weights.

    `bags` has the shape (types, BUCKETS), `vectors` (types, dimensions of the encoder), `bias` (types,).
    """

    types: tuple[str, ...]
    bags: Floats
    vectors: Floats
    bias: Floats

    def probabilities(self, text: str, vector: Vectors) -> Floats:
        """Return the probability of each of `types` for a question and its vector, shape (types,)."""
        found, values = bag(text)
        logits = self.bias + self.vectors @ vector + self.bags[:, found] @ values
        exponents = np.exp(logits - logits.max())
        probabilities: Floats = (exponents / exponents.sum()).astype(np.float32)
        return probabilities


def type_signals(
    probabilities: Mapping[str, float], names: Sequence[str], types: NDArray[np.int16], keys: Keys
) -> dict[str, Column]:
    """Return the probability of the type of each candidate, and its place among the types.

    `probabilities` holds the probability of each type by name; another type has the probability 0. `names` are the
    types of the schema by code, and `types` holds the codes of all nodes.
    """
    by_code = np.array([probabilities.get(name, 0.0) for name in names], dtype=np.float32)
    places = np.empty(len(by_code), dtype=np.float32)
    places[np.argsort(-by_code, kind="stable")] = np.arange(1, len(by_code) + 1)
    own = types[keys]
    return {"type:probability": by_code[own], "type:place": places[own]}
