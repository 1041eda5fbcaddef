"""Data that a planner computes once for a schema and an encoder: shape, wording, lexicon, and vectors.

Stages are built anew for every search. This module therefore keeps the data between searches, for the few releases
that were used last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

from search.domain.graph import Schema
from search.interfaces import Encoder
from search.language.names import asked_words, ordinary_words, schema_words
from search.stages.plan.knowledge.ahead import likely_wordings
from search.stages.plan.knowledge.lexicon import Lexicon
from search.stages.plan.knowledge.shape import Shape
from search.stages.plan.knowledge.vectors import TextVectors
from search.stages.plan.knowledge.wording import Wording

T = TypeVar("T")

_KEPT = 8
_known: OrderedDict[tuple[int, int], Knowledge] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The data about a schema with which questions are compared."""

    schema: Schema
    encoder: Encoder
    _kept: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict, init=False)

    @classmethod
    def of(cls, schema: Schema, encoder: Encoder) -> Knowledge:
        """Return the knowledge of these schema and encoder objects. Both stay in memory while it is cached."""
        key = (id(schema), id(encoder))
        with _lock:
            knowledge = _known.setdefault(key, cls(schema, encoder))
            _known.move_to_end(key)
            while len(_known) > _KEPT:
                _known.popitem(last=False)
        return knowledge

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of a key, or cache the result of `make`; the `_KEPT` values used last are kept."""
        with _lock:
            found: T = self._kept[key] if key in self._kept else self._kept.setdefault(key, make())
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    def wordings_ahead(self, most: int) -> list[str]:
        """Return up to `most` wordings of the walks that questions will most likely ask for, the likeliest first."""
        return likely_wordings(self.shape, self.wording, most)

    @cached_property
    def shape(self) -> Shape:
        """The types that the schema allows at the ends of its relations."""
        return Shape(self.schema)

    @cached_property
    def wording(self) -> Wording:
        """The schema in words."""
        return Wording(self.schema)

    @cached_property
    def vectors(self) -> TextVectors:
        """Vectors of words, phrases and wordings."""
        return TextVectors(self.encoder)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The affinities of single words to relations and node types."""
        return Lexicon(self.wording, self.vectors)

    @cached_property
    def ordinary(self) -> frozenset[str]:
        """Stems of ordinary words, which alone name no node."""
        return ordinary_words(self.schema)

    @cached_property
    def spoken(self) -> frozenset[str]:
        """Stems of the schema's own words, and of the words of asking that stand for them."""
        return schema_words(self.schema) | asked_words(self.schema)

    @cached_property
    def answerable(self) -> frozenset[int]:
        """Codes of the node types that may be answers."""
        return frozenset(self.schema.type_codes[name] for name in self.schema.answerable)
