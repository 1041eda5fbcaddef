"""How near documents are to a text: by the cosine, which orders equal scores in every list, and by shared words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from search.domain.question import Question
from search.domain.ranking import Keys, Numbers
from search.domain.trace import Limit
from search.domain.vector_kinds import PROSE
from search.interfaces import Encoder, TextIndex, VectorIndex, Vectors

TOLD = 0.5
"""The part that counts of what a node's prose is nearer to a text than its document."""


@dataclass(frozen=True, slots=True)
class QuestionCosines:
    """A callable that returns the cosines of keys when a list needs them (`search.domain.ranking.Cosines`).

    The question is encoded only when cosines are requested. The encoder of a search caches its vectors, so that all
    stages together encode the question once.
    """

    question: Question
    encoder: Encoder
    vectors: VectorIndex
    limit: Limit
    stage: str

    def __call__(self, keys: Sequence[int]) -> Mapping[int, float]:
        """Return the cosine of each key that has a document.

        Raises DeadlineExceeded if the time ran out, and SearchCancelled if the search was cancelled.
        """
        if not keys:
            return {}
        self.limit.check(self.stage)
        return self.vectors.cosines(self.encoder.encode([self.question.text])[0], keys)


def likeness(vectors: VectorIndex, vector: Vectors, keys: Sequence[int]) -> dict[int, float]:
    """Return key → how alike a text's vector and what is written about a node are; nodes without a document are absent.

    It is the cosine with the document, and half of what the cosine with the node's prose is above it. A document's
    vector mixes what describes a node with its name, its numbers and its neighbours. A question that describes the node
    says nothing of them and is nearer to the prose, one that names a neighbour is nearer to the document. A release of
    an earlier version has no vectors of prose.
    """
    whole = vectors.cosines(vector, keys)
    if PROSE not in vectors.kinds:
        return whole
    told = vectors.cosines(vector, list(whole), PROSE)
    return {key: cosine + TOLD * max(0.0, told.get(key, cosine) - cosine) for key, cosine in whole.items()}


def squared_coverage(index: TextIndex, text: str, keys: Keys) -> Numbers:
    """Return for each key the squared coverage of a text by the node's document; 0 where they share no word.

    The coverage is the document's BM25 score, divided by the sum of the idf of the text's words: about the share of
    what the text says that the document says in the same words. As a share of the best score of all documents, one word
    that a document happens to share would count as all of them where no document shares more.
    """
    if not len(keys):
        return np.zeros(0)
    _, found = index.word_scores(text, keys.astype(np.int32))
    shared: Numbers = found.sum(axis=0).astype(np.float64)
    return (shared / index.rarity(text)) ** 2 if shared.any() else shared
