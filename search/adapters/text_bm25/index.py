"""Searches of the mapped index (interfaces.TextIndex)."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters.string_table import StringTable
from search.adapters.text_bm25.analyzer import Analyzer
from search.adapters.text_bm25.postings import Postings
from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.ranking import Candidate


class Bm25Index:
    """The index that `build` wrote (interfaces.TextIndex); its files are opened on first use and shared by threads."""

    def __init__(self, directory: Path, schema: Schema) -> None:
        self._directory = directory
        self._schema = schema
        self._open: dict[str, Postings] = {}
        self._opening = threading.Lock()

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Candidate]:
        """Return the k best nodes of the given types (none: all), best first; nodes without a match are left out.

        Equal scores are ordered by key. `field` is a field's name or `relation:<name>`. KeyError for a type that the
        schema does not have; a permanent StageError for a field or relation that the index does not have.
        """
        postings = self._postings(field)
        fitting = None
        if labels:
            fitting = np.zeros(len(self._schema.node_types), dtype=bool)
            fitting[[self._schema.type_codes[label] for label in labels]] = True
        words = self._places(text)
        if postings is None or k < 1 or not words:
            return []
        rows, scores = postings.best(words, k, fitting, self._types)
        order = np.lexsort((rows, -scores))[:k]
        return [Candidate(int(postings.keys[rows[at]]), float(scores[at])) for at in order]

    def word_scores(
        self, text: str, keys: NDArray[np.int32], field: str | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the idf of each distinct word of a text, and the score of each node for each word; see the protocol.

        Raises a permanent StageError for a field or relation that the index does not have.
        """
        postings = self._postings(field)
        words = sorted(set(self._places(text)))
        if postings is None or not words:
            return np.empty(0, dtype=np.float32), np.empty((0, len(keys)), dtype=np.float32)
        rows = np.searchsorted(postings.keys, keys)
        rows[postings.keys[np.minimum(rows, len(postings.keys) - 1)] != keys] = -1
        found = np.stack([postings.scores_at(word, rows) for word in words])
        return _idf(postings.holding(np.array(words)), len(postings.keys)), found

    def rarities(self, text: str) -> dict[str, float | None]:
        """Return the idf of each distinct word of a text, by its stem; None for a word that no document has."""
        postings = self._postings(None)
        words = dict.fromkeys(self._analyzer.words(text))
        if postings is None:
            return dict.fromkeys(words)
        places = [self._vocabulary.find(word) for word in words]
        holding = [0 if place is None else int(postings.holding(np.array(place))) for place in places]
        found = _idf(np.array(holding), len(postings.keys)).tolist()
        return {word: one if held else None for word, one, held in zip(words, found, holding, strict=True)}

    def rarity(self, text: str) -> float:
        """Return the sum of the idf of a text's distinct words; unknown words count as ones of no document."""
        postings = self._postings(None)
        if postings is None:
            return 0.0
        unknown = float(_idf(np.zeros(1, dtype=np.int64), len(postings.keys))[0])
        return sum(unknown if one is None else one for one in self.rarities(text).values())

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields and relations that can be searched on their own."""
        return tuple(self._manifest["fields"])

    def matching(self, text: str, field: str | None = None) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the keys of all nodes that match at least one word, sorted, and their scores.

        Raises a permanent StageError for a field or relation that the index does not have.
        """
        postings = self._postings(field)
        words = self._places(text)
        if postings is None or not words:
            return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        rows, scores = postings.all(words)
        return postings.keys[rows], scores

    def postings(self, text: str, field: str | None = None) -> list[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """Return for each distinct word of the text in the index: the keys of its documents, and its score in each.

        Raises a permanent StageError for a field or relation that the index does not have.
        """
        postings = self._postings(field)
        if postings is None:
            return []
        spans = [postings.of(place) for place in dict.fromkeys(self._places(text))]
        return [(postings.keys[rows], scores) for rows, scores in spans]

    def _places(self, text: str) -> list[int]:
        """Return the places of the text's words in the vocabulary; unknown words are left out."""
        return [place for word in self._analyzer.words(text) if (place := self._vocabulary.find(word)) is not None]

    def _postings(self, field: str | None) -> Postings | None:
        """Return the scores of the whole documents or of a field; None if no document has a word."""
        if field is not None and field not in self._manifest["fields"]:
            there = ", ".join(self._manifest["fields"]) or "none"
            reason = f"the index has no field {field!r}; it has: {there}. `index_kb` builds what has been added since"
            raise StageError("text", reason, permanent=True)
        folder = ("whole" if self._manifest["whole"] else None) if field is None else self._manifest["fields"][field]
        if folder is None:
            return None
        with self._opening:
            if folder not in self._open:
                self._open[folder] = Postings.open(self._directory / folder)
        return self._open[folder]

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        return json.loads((self._directory / "bm25.json").read_text())

    @cached_property
    def _analyzer(self) -> Analyzer:
        return Analyzer(self._manifest["language"])

    @cached_property
    def _vocabulary(self) -> StringTable:
        return StringTable.open(self._directory / "vocabulary")

    @cached_property
    def _types(self) -> NDArray[np.int16]:
        return np.load(self._directory / "types.npy", mmap_mode="r").view(np.ndarray)


def _idf(holding: NDArray[np.integer], documents: int) -> NDArray[np.float32]:
    """Return the idf of words, as BM25 of Lucene has it, by the number of documents that hold each."""
    return np.log(1 + (documents - holding + 0.5) / (holding + 0.5)).astype(np.float32)
