"""Facts of a knowledge base that decide which questions are made of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import OPPOSITE, Direction, Schema
from search.interfaces import Keys
from training.data.synthesis.texts import all_words, own_text
from training.data.synthesis.tools import SynthesisTools

SAMPLE = 2_000
"""Nodes whose texts are read to learn which words are common."""
COMMON = 0.02
"""Share of the sampled texts above which a word is common: it describes no node."""
READ_AT_ONCE = 250


@dataclass(frozen=True, eq=False)
class Base:
    """The schema and the size of a base, its answerable nodes by type, and its words.

    `keys` holds all keys grouped by type; those of a type lie between two places of `starts`. `types` are the codes of
    the types that may be answers, with their `shares`, proportional to the square root of their numbers. `text_share`
    is the share of such nodes with a text of their own, `edge_share` of those with an edge. `frequency` is the number
    of sampled texts that hold a word.
    """

    schema: Schema
    keys: Keys
    starts: NDArray[np.int64]
    types: NDArray[np.int64]
    shares: NDArray[np.float64]
    text_share: float
    edge_share: float
    frequency: Mapping[str, int]
    texts: int

    @classmethod
    def of(cls, tools: SynthesisTools) -> Base:
        """Read the facts; it takes about a second, and no more for a larger base."""
        schema, codes = tools.schema, tools.adjacency.types
        keys = np.argsort(codes, kind="stable").astype(np.int32)
        starts = np.searchsorted(codes[keys], np.arange(len(schema.node_types) + 1))
        counts = np.diff(starts)
        allowed = [one.answerable and not one.hidden for one in schema.node_types]
        types = np.flatnonzero((counts > 0) & np.array(allowed, dtype=bool))
        roots = np.sqrt(counts[types].astype(np.float64))
        shares = roots / roots.sum() if len(roots) else roots
        drawn = _spread(keys, starts, types, shares)
        frequency, texts, with_text = _frequencies(tools, drawn)
        edged = sum(bool(tools.adjacency.has_edges(np.array([key], dtype=np.int32))) for key in drawn[:300])
        return cls(
            schema, keys, starts, types, shares, with_text / max(1, len(drawn)), edged / max(1, min(300, len(drawn))),
            frequency, texts,
        )  # fmt: skip

    def of_type(self, code: int) -> Keys:
        """Return the keys of a type's nodes, sorted."""
        return self.keys[self.starts[code] : self.starts[code + 1]]

    def is_rare(self, word: str) -> bool:
        """Return whether a word (in lower case) is in so few texts that it tells nodes apart."""
        return self.frequency.get(word, 0) <= max(1, COMMON * self.texts)

    def rarity(self, word: str) -> float:
        """Return the inverse document frequency of a word in lower case."""
        return math.log((self.texts + 1) / (self.frequency.get(word, 0) + 0.5))

    def relation_types(self) -> int:
        """Return the number of relations between two types that are not hidden."""
        hidden = {one.name for one in self.schema.node_types if one.hidden}
        return sum(one.count > 0 and not {one.source, one.target} & hidden for one in self.schema.relation_types)

    def directions(self, relation: int, near: int, far: int) -> tuple[Direction, ...]:
        """Return the stored directions of a relation's edges from a node type to another."""
        pairs = self.schema.ends.get(self.schema.relations[relation].name, frozenset())
        there: list[Direction] = ["out"] if (near, far) in pairs else []
        return (*there, *(["in"] if (far, near) in pairs else []))  # type: ignore[arg-type]


def turned(direction: Direction) -> Direction:
    """Return the direction of an edge as seen from its other end."""
    return OPPOSITE[direction]


def _spread(keys: Keys, starts: NDArray[np.int64], types: NDArray[np.int64], shares: NDArray[np.float64]) -> list[int]:
    """Return about `SAMPLE` keys: of each type its share, evenly spaced; in an order that mixes the types."""
    drawn: list[int] = []
    for code, share in zip(types, shares, strict=True):
        own = keys[starts[code] : starts[code + 1]]
        wanted = min(len(own), max(1, round(SAMPLE * share)))
        drawn += own[np.linspace(0, len(own), wanted, endpoint=False).astype(np.int64)].tolist()
    return [drawn[at] for at in np.random.default_rng(0).permutation(len(drawn))]


def _frequencies(tools: SynthesisTools, drawn: Sequence[int]) -> tuple[Counter[str], int, int]:
    """Return word → number of texts that hold it, the number of texts, and that of nodes with prose of their own."""
    frequency: Counter[str] = Counter()
    texts = with_text = 0
    for first in range(0, len(drawn), READ_AT_ONCE):
        for node in tools.nodes.nodes(drawn[first : first + READ_AT_ONCE]):
            words = all_words(node)
            frequency.update(words)
            texts += bool(words)
            with_text += bool(own_text(node, tools.schema))
    return frequency, texts, with_text
