"""Data that a planner computes once for a schema and an encoder: shape and lexicon.

Stages are built anew for every search. This module therefore keeps the data between searches, for the few releases
that were used last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

from search.domain.graph import Schema
from search.interfaces import Encoder
from search.stages.plan.knowledge.lexicon import Lexicon
from search.stages.plan.knowledge.shape import GraphShape

T = TypeVar("T")

_KEPT = 8
_known: OrderedDict[tuple[int, int], Knowledge] = OrderedDict()
# What is made may itself ask for something that is kept.
_lock = RLock()


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

    @cached_property
    def shape(self) -> GraphShape:
        """The types that the schema allows at the ends of its relations."""
        return GraphShape(self.schema)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The affinities of single words to relations and node types."""
        return Lexicon(self.schema, self.encoder)

    @cached_property
    def answerable(self) -> frozenset[int]:
        """Codes of the node types that may be answers."""
        return frozenset(self.schema.type_codes[name] for name in self.schema.answerable)
