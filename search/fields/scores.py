"""The lists without maps: BM25 over whole documents, fields and relations, personalised PageRank, and passages.

All scores are divided by the question's highest one, so that they lie between 0 and 1 whatever the question's length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.fields.names import NEIGHBOURHOOD, NEIGHBOURHOOD2, PAGERANK, PASSAGES, TEXT, field_of, is_words
from search.fields.neighbourhood import neighbourhood_scores
from search.fields.passages import Passages
from search.interfaces import Adjacency, Keys, MentionIndex, TextIndex
from search.language.entities import entities
from search.spreading import spread

NAMES, LEAST_SURE = 5, 0.2
"""Most names in the question that become seeds, and their least probability."""
DOCUMENTS = 5
"""Number of the best documents (BM25) that become seeds."""
DAMPING, STEPS, EDGES = 0.7, 6, 100_000
"""Of the spread: damping and steps were chosen on training questions; the edges bound its time to milliseconds."""

Scores = NDArray[np.float32]
Scored = tuple[Keys, Scores]
"""Sorted keys, and the positive score of each."""
NOTHING: Scored = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))


@dataclass(frozen=True)
class FieldScores:
    """Scores nodes by words, by nearness in the graph and, with `passages`, by their passages."""

    text: TextIndex
    mentions: MentionIndex
    adjacency: Adjacency
    passages: Passages | None = None

    def of(self, question: str, lists: Iterable[str], check: Callable[[], None] = lambda: None) -> dict[str, Scored]:
        """Return the scores of these lists; lists with vectors are left out. A node without a score is not in a list.

        `check` is called between lists and raises to end the work. Raises StageError for a field that the index lacks.
        """
        found: dict[str, Scored] = {}
        lists = tuple(lists)
        if near := [name for name in (NEIGHBOURHOOD, NEIGHBOURHOOD2) if name in lists]:
            every = np.arange(self.adjacency.size, dtype=np.int32)
            both = neighbourhood_scores(question, self.text, self.adjacency, check)
            by_name = dict(zip((NEIGHBOURHOOD, NEIGHBOURHOOD2), both, strict=True))
            found = {name: relative((every, by_name[name])) for name in near}
        for name in lists:
            check()
            if name in found:
                continue
            if is_words(name):
                found[name] = relative(self.text.matching(question, field_of(name)))
            elif name == PAGERANK:
                found[name] = self._pagerank(question, found.get(TEXT), check)
            elif name == PASSAGES and self.passages is not None:
                found[name] = relative(self.passages.of(question))
        return found

    def _pagerank(self, question: str, matching: Scored | None, check: Callable[[], None]) -> Scored:
        """Return the square roots of the nodes' PageRank, from the question's names and from the best documents."""
        keys, scores = relative(self.text.matching(question)) if matching is None else matching
        best = np.lexsort((keys, -scores))[:DOCUMENTS]
        from_documents = dict(zip(keys[best].tolist(), scores[best].tolist(), strict=True))
        from_names: dict[int, float] = {}
        for entity in entities(question, self.mentions, self.adjacency.schema, NAMES):
            for key in entity.keys if entity.sure >= LEAST_SURE else ():
                from_names[key] = from_names.get(key, 0.0) + entity.sure / len(entity.keys)
        parts = [part for part in (from_names, from_documents) if part]
        weights: dict[int, float] = {}
        for part in parts:
            total = sum(part.values()) * len(parts)
            for key, weight in part.items():
                weights[key] = weights.get(key, 0.0) + weight / total
        if not weights:
            return NOTHING
        reached = spread(self.adjacency, weights, damping=DAMPING, steps=STEPS, edges=EDGES, check=check)
        return relative((reached.tree.keys, np.sqrt(reached.scores).astype(np.float32)))


def relative(scored: Scored) -> Scored:
    """Return the scores divided by the highest; nodes without a positive score are left out."""
    keys, scores = scored
    there = scores > 0
    return (keys[there], scores[there] / scores.max()) if there.any() else NOTHING


def best_of(scored: Scored, most: int) -> Scored:
    """Return the `most` highest scores, by key; equal scores at the end are cut by key."""
    keys, scores = scored
    if len(keys) <= most:
        return scored
    kept = np.sort(np.lexsort((keys, -scores))[:most])
    return keys[kept], scores[kept]


def scores_at(scored: Scored, keys: Keys) -> tuple[NDArray[np.bool_], Scores]:
    """Return for each of these keys whether the list holds it, and its score there (0 if not)."""
    own, scores = scored
    if not len(own):
        return np.zeros(len(keys), dtype=bool), np.zeros(len(keys), dtype=np.float32)
    places = np.minimum(np.searchsorted(own, keys), len(own) - 1)
    there = own[places] == keys
    return there, np.where(there, scores[places], 0).astype(np.float32)
