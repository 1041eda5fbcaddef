"""Tools whose answers are written down in the test: cosines from a table, a graph that tries everything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from search.domain.aggregates import Aggregated
from search.domain.errors import StageError
from search.domain.evidence import Path, PathEdge, PathNode
from search.domain.linking import LinkedPlan, Placed, Traversal
from search.domain.plan import Order
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.interfaces import VectorKind, Vectors
from tests import oracle


class Cosines:
    """An encoder and a vector index in one: `table[kind][text][key]` is the cosine of a text and a node."""

    name = "table@1"

    def __init__(self, table: Mapping[str, Mapping[str, Mapping[int, float]]], types: Mapping[int, str] = {}) -> None:
        self._table = table
        self._types = types
        self._texts = sorted({text for texts in table.values() for text in texts})
        self.dimensions = len(self._texts)
        self.encoded: list[str] = []
        self.looked_up: list[str] = []

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self._table)

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        return np.array([[text == known for known in self._texts] for text in texts], dtype=np.float32)

    def _text(self, vector: Vectors) -> str:
        return self._texts[int(np.argmax(vector))]

    def nearest(
        self, kind: VectorKind, vector: Vectors, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        self.looked_up.append(self._text(vector))
        known = self._table.get(kind, {}).get(self._text(vector), {})
        found = [Candidate(key, score) for key, score in known.items() if not labels or self._types[key] in labels]
        return sorted(found, key=lambda candidate: (-candidate.score, candidate.key))[:k]

    def cosines(
        self, vector: Vectors, keys: Sequence[int], kind: VectorKind = "document+relations"
    ) -> dict[int, float]:
        known = self._table.get(kind, {}).get(self._text(vector), {})
        return {key: known[key] for key in keys if key in known}

    def sample(self, label: str, n: int = 1000, limit: Limit | None = None) -> list[int]:
        return sorted(key for key, kind in self._types.items() if kind == label)[:n]

    def background(self, vector: Vectors, label: str, n: int = 1000, limit: Limit | None = None) -> Vectors:
        return np.array(list(self.cosines(vector, self.sample(label, n, limit)).values()), dtype=np.float32)


class Words:
    """A text index: `table[word][key]` is the score of a node for a word."""

    def __init__(self, table: Mapping[str, Mapping[int, float]], types: Mapping[int, str] = {}) -> None:
        self._table = table
        self._types = types

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Candidate]:
        known = {key for word in text.split() for key in self._table.get(word, {})}
        keys = np.array(sorted(key for key in known if not labels or self._types[key] in labels), dtype=np.int32)
        scores = self.word_scores(text, keys)[1].sum(axis=0)
        found = [Candidate(int(key), float(score)) for key, score in zip(keys, scores, strict=True)]
        return sorted(found, key=lambda candidate: (-candidate.score, candidate.key))[:k]

    def word_scores(self, text: str, keys: Any, field: str | None = None) -> tuple[Any, Any]:
        rows = [[self._table.get(word, {}).get(int(key), 0.0) for key in keys] for word in text.split()]
        return np.ones(len(rows), dtype=np.float32), np.array(rows, dtype=np.float32).reshape(len(rows), len(keys))

    def rarities(self, text: str) -> dict[str, float | None]:
        return {}

    def rarity(self, text: str) -> float:
        return float(len(set(text.split())))


class TriesEverything:
    """A graph store that asks the brute-force matcher; plans whose index is in `down` fail, questions are counted."""

    backend = "brute force"

    def __init__(self, graph: oracle.Graph, down: Mapping[int, StageError] = {}) -> None:
        self._graph = graph
        self._down = down
        self.asked = 0

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        self._check(linked, limit)
        return replace(self._execute(linked, rows), aggregate=self._computed(linked))

    def _execute(self, linked: LinkedPlan, rows: int) -> Traversal:
        if linked.plan.order is not None:
            answers = oracle.answers(self._graph, linked)
            placed = {key: Placed(value, place) for key, _, value, place in answers}  # type: ignore[arg-type]
            found = tuple(Candidate(key, score) for key, score, _, _ in answers[:rows])
            return Traversal(linked.index, self.backend, found, len(answers) > rows, placed=placed)
        scores = oracle.candidates(self._graph, linked)
        order = sorted(scores, key=lambda key: (-scores[key], key))
        candidates = tuple(Candidate(key, scores[key]) for key in order[:rows])
        return Traversal(linked.index, self.backend, candidates, len(order) > rows)

    def _computed(self, linked: LinkedPlan) -> Aggregated | None:
        found, function = oracle.aggregate(self._graph, linked), linked.plan.aggregate
        return Aggregated(function, linked.plan.show, *found) if function and found else None

    def paths(
        self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1
    ) -> dict[int, list[tuple[Path, ...]]]:
        """Paths of the first match of each key; a path's edges are those of the plan, walked as they are written."""
        self._check(linked, limit)
        found: dict[int, list[tuple[Path, ...]]] = {}
        for match, _ in oracle.matches(self._graph, linked):
            key = match[linked.plan.target.var]
            if key in keys and key not in found:
                ends = [anchor.var for anchor in linked.plan.anchors]
                nodes = [
                    [PathNode(self._graph.nodes[match[v]], v) for v in (end, linked.plan.target.var)] for end in ends
                ]
                found[key] = [tuple(Path(tuple(pair), (PathEdge("r", "out"),)) for pair in nodes)]
        return found

    def matching(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        self._check(linked, limit)
        return oracle.matching(self._graph, linked, keys)

    def order_values(
        self, order: Order, keys: Sequence[int], limit: Limit, among: Collection[int] | None = None
    ) -> dict[int, Any]:
        limit.check("test")
        return {key: oracle.value_of(self._graph, order, key, None if among is None else set(among)) for key in keys}

    def _check(self, linked: LinkedPlan, limit: Limit) -> None:
        limit.check("test")
        self.asked += 1
        if linked.index in self._down:
            raise self._down[linked.index]
