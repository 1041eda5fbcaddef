"""The list of passages: a question has several clauses, and different sentences of a document answer them.

The vector of a whole question mixes what its clauses ask for, and the vector of a long document mixes what its
sentences say. Here each clause is compared with each passage, and a node's score is the mean over the clauses of its
best passage: the late interaction of ColBERT (Khattab and Zaharia, 2020), of clauses and sentences instead of words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from search.domain.vector_kinds import PASSAGE, passages_in
from search.interfaces import Encoder, Keys, VectorIndex
from search.language.words import FUNCTION_WORDS, words

KEPT = 1_000
"""Nodes that get a score: the last of them gets 0."""
MOST_CLAUSES = 8
LEAST_WORDS = 2
"""Fewest words with a content of their own that make a clause."""
_APART = re.compile(
    r"[,;:?.!]\s+|[?]|\b(?:and|which|that|while|also|whose|who|where|when|but|yet|thus|thereby|with)\b", re.IGNORECASE
)
_NOTHING: tuple[Keys, NDArray[np.float32]] = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a question, and the number of its words with a content of their own."""

    text: str
    words: int


@lru_cache(maxsize=256)
def clauses(question: str) -> tuple[Clause, ...]:
    """Return the clauses of a question, cut at punctuation and at English words that join clauses.

    A question of one clause, or without words of its own, is a single clause. The longest `MOST_CLAUSES` are returned.
    """
    parts = (part.strip() for part in _APART.split(question))
    counted = (Clause(part, sum(word not in FUNCTION_WORDS for word in words(part))) for part in parts if part)
    found = [clause for clause in counted if clause.words >= LEAST_WORDS]
    if not found:
        return (Clause(question, 1),)
    kept = sorted(range(len(found)), key=lambda at: (-found[at].words, at))[:MOST_CLAUSES]
    return tuple(found[at] for at in sorted(kept))


@dataclass(frozen=True)
class Passages:
    """Scores nodes by their passages; the release must have vectors of kind `passage` or `passage:drops`."""

    encoder: Encoder
    vectors: VectorIndex

    def of(self, question: str) -> tuple[Keys, NDArray[np.float32]]:
        """Return the keys of the best nodes, sorted, and their scores above the `KEPT`-th best node's.

        A clause counts by the square root of its words. Raises StageError if there are no vectors of passages.
        """
        parts = clauses(question)
        kind = passages_in(self.vectors.kinds) or PASSAGE
        keys, cosines = self.vectors.best_cosines(kind, self.encoder.encode([clause.text for clause in parts]))
        if not len(keys):
            return _NOTHING
        weights = np.sqrt(np.array([clause.words for clause in parts], dtype=np.float32))
        means = (weights / weights.sum()) @ cosines
        floor = np.partition(means, -KEPT)[-KEPT] if len(means) > KEPT else float(means.min())
        above = means > floor
        return keys[above], means[above] - np.float32(floor)
