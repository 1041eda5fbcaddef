"""What a planner works out once for a schema and an encoder: its shape, wording, words, and their vectors.

Stages are built anew for every search, so this is kept beside them, for the newest few releases.
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
from search.language.names import ordinary_words, schema_words
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
    """Everything about a schema that questions are held against."""

    schema: Schema
    encoder: Encoder
    _kept: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict, init=False)

    @classmethod
    def of(cls, schema: Schema, encoder: Encoder) -> Knowledge:
        """Return the knowledge of this very schema and encoder; both stay alive as long as it is kept."""
        key = (id(schema), id(encoder))
        with _lock:
            knowledge = _known.setdefault(key, cls(schema, encoder))
            _known.move_to_end(key)
            while len(_known) > _KEPT:
                _known.popitem(last=False)
        return knowledge

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` made for that key, once; the newest few are kept."""
        with _lock:
            found: T = self._kept[key] if key in self._kept else self._kept.setdefault(key, make())
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    @cached_property
    def shape(self) -> Shape:
        """What the schema allows at the ends of its relations."""
        return Shape(self.schema)

    @cached_property
    def wording(self) -> Wording:
        """How the schema is said."""
        return Wording(self.schema)

    @cached_property
    def vectors(self) -> TextVectors:
        """Vectors of words, phrases and wordings."""
        return TextVectors(self.encoder)

    @cached_property
    def lexicon(self) -> Lexicon:
        """What single words speak of."""
        return Lexicon(self.wording, self.vectors)

    @cached_property
    def ordinary(self) -> frozenset[str]:
        """Stems that are no names by themselves."""
        return ordinary_words(self.schema)

    @cached_property
    def spoken(self) -> frozenset[str]:
        """Stems of the schema's own words."""
        return schema_words(self.schema)

    @cached_property
    def answerable(self) -> frozenset[int]:
        """Codes of the node types that may be answers."""
        return frozenset(self.schema.type_codes[name] for name in self.schema.answerable)
