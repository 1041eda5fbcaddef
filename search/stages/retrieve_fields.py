"""Retrieval by fields (mFAR, 2024; docs/retrieval.md): every field has a list, and the question weighs the lists."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from search.cosines import QuestionCosines
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit
from search.fields.names import PAGERANK, PASSAGES, TYPE, field_of, is_words, kind_of, lists_of
from search.fields.passages import Passages
from search.fields.scores import FieldScores, Scored, best_of, scores_at
from search.interfaces import (
    Adjacency,
    Encoder,
    FieldQuery,
    FieldRetrievers,
    Keys,
    MentionIndex,
    NodeStore,
    TextIndex,
    VectorIndex,
)

STAGE = "retrieve"
DENSE_WEIGHT, SPARSE_WEIGHT = 12.0, 6.0
"""Weights of an untrained list, and the unit of learned ones. Cosines of good and bad documents differ by tenths; the
scores of words and PageRank, divided by their maximum, differ by up to 1. The weights make both count alike."""


@dataclass(frozen=True)
class Fields:
    """Ranks nodes by the weighted sum of their scores in many lists: one for each field and scorer.

    Scorers are cosines and BM25; the fields are name, document, text fields, relations (the neighbours' names) and the
    mean vectors of neighbours; PageRank is one more list, and so are passages where the release has vectors of them. A
    node that lacks a field gets nothing from its list. The candidates are the best of each list; all of them get the
    exact score of every list.

    Without an `artifact` the question's own vector is compared with every kind, and all lists have the same weight; the
    lists of single fields and relations share one. An artifact maps the question's vector for each list, weighs the
    lists by the question, and adds a score for the node's type.
    """

    field_retrievers: FieldRetrievers
    encoder: Encoder
    vectors: VectorIndex
    text: TextIndex
    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore
    artifact: str = option("", "Id of the trained retriever; empty: untrained, with equal weights.", staff_only=True)
    fold: int = option(
        -1, "Number of the fold without which the retriever was trained; -1: trained on all questions.",
        low=-1, high=100, staff_only=True,
    )  # fmt: skip
    depth: int = option(100, "Length of the list, and number of possible answers from each field.", low=1, high=1000)

    def load(self) -> None:
        """Load the trained retriever before the search's clock starts; the stage says why there is none."""
        if self.artifact:
            with suppress(StageError):
                self.field_retrievers.get(self.artifact, self.fold)

    def __call__(self, question: Question, limit: Limit) -> Fusion:
        """Return the sum of the lists, best first.

        Raises StageError if the artifact cannot be read or does not fit the release, DeadlineExceeded and
        SearchCancelled.
        """
        limit.check(STAGE)
        query = self._query(question.text)
        passages = Passages(self.encoder, self.vectors)
        scored = FieldScores(self.text, self.mentions, self.adjacency, passages).of(
            question.text, query.weights, lambda: limit.check(STAGE)
        )
        keys = self._candidates(query, scored, limit)
        rankings = {name: _ranking(*_kept(one, keys)) for name, one in scored.items()}
        for name, vector in query.vectors.items():
            found = self.vectors.cosines(vector, keys.tolist(), _kind(name))
            rankings[name] = _ranking(np.fromiter(found, np.int32, len(found)), np.array(list(found.values())))
        weights = dict(query.weights)
        if query.types:
            rankings[TYPE], weights[TYPE] = self._types(query.types, keys), 1.0
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, STAGE)
        ordered = {name: rankings[name] for name in weights}
        fused = Fusion.added(ordered, weights, cosines, self.depth)
        return replace(fused, probability=probability_of_first(fused.ranking)) if self.artifact else fused

    def _query(self, text: str) -> FieldQuery:
        if not self.artifact:
            return untrained(self.encoder, text, lists_of(self.vectors.kinds, self.text.fields, self.adjacency.size))
        retriever = self.field_retrievers.get(self.artifact, self.fold)
        if retriever.encoder != self.encoder.name:
            reason = (
                f"{self.artifact} reads questions for vectors of {retriever.encoder}, and those of this release were "
                f"made by {self.encoder.name}"
            )
            raise StageError(STAGE, reason, permanent=True)
        there = set(lists_of(self.vectors.kinds, self.text.fields, self.adjacency.size))
        if missing := [name for name in retriever.lists if name not in there]:
            reason = f"{self.artifact} weighs lists that this release does not have: {', '.join(missing)}"
            raise StageError(STAGE, f"{reason}. `index_kb` builds what has been added since", permanent=True)
        return retriever.read(text)

    def _candidates(self, query: FieldQuery, scored: Mapping[str, Scored], limit: Limit) -> Keys:
        """Return the sorted keys of the best nodes of every list whose types may be answers."""
        found = [best_of(one, self.depth)[0] for name, one in scored.items() if query.weights[name] > 0]
        for name, vector in query.vectors.items():
            if query.weights[name] > 0:
                near = self.vectors.nearest(_kind(name), vector, self.depth, limit=limit)
                found.append(np.array([candidate.key for candidate in near], dtype=np.int32))
        keys: Keys = np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int32)
        answerable = np.array([label.answerable for label in self.adjacency.schema.node_types], dtype=bool)
        return keys[answerable[self.nodes.types(keys)]] if len(keys) else keys

    def _types(self, scores: Mapping[str, float], keys: Keys) -> Ranking:
        """Return the list of the candidates' types."""
        of_code = np.array([scores.get(label.name, 0.0) for label in self.adjacency.schema.node_types])
        return _ranking(keys, of_code[self.nodes.types(keys)])


def probability_of_first(ranking: Ranking) -> float:
    """Return the probability of the first candidate, where scores are logarithms of odds, as learned ones are."""
    scores = np.array([candidate.score for candidate in ranking.candidates])
    return float(1 / np.exp(scores - scores.max()).sum()) if len(scores) else 0.0


def untrained(encoder: Encoder, text: str, lists: tuple[str, ...]) -> FieldQuery:
    """Return the query of a retriever that has learned nothing."""
    vector = encoder.encode([text])[0]
    return FieldQuery({name: vector for name in lists if kind_of(name)}, first_weights(lists), {})


def first_weights(lists: tuple[str, ...]) -> dict[str, float]:
    """Return list → weight before learning: the same for all, but lists of words in single fields share one weight."""
    single = sum(field_of(name) is not None for name in lists)
    return {
        name: DENSE_WEIGHT if kind_of(name) else SPARSE_WEIGHT / (single if field_of(name) is not None else 1)
        for name in lists
        if kind_of(name) or is_words(name) or name in (PAGERANK, PASSAGES)
    }


def _kept(scored: Scored, keys: Keys) -> tuple[Keys, NDArray[np.float32]]:
    """Return those of the keys that a list holds, and their scores."""
    there, scores = scores_at(scored, keys)
    return keys[there], scores[there]


def _kind(name: str) -> str:
    kind = kind_of(name)
    assert kind is not None
    return kind


def _ranking(keys: Keys, scores: NDArray[np.floating]) -> Ranking:
    """Return the list of keys by score, then key."""
    order = np.lexsort((keys, -scores))
    pairs = zip(keys[order].tolist(), scores[order].tolist(), strict=True)
    return Ranking(tuple(map(Candidate._make, pairs)), len(keys))
