"""The entities that a question names, for any pipeline: the nodes, the place in the text, and the confidence.

entities("Which films did Ann Arbor direct?", tools.mentions, tools.schema)
→ [Entity(start=16, end=25, text="Ann Arbor", keys=(8, 18), sure=0.9)]
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from search.domain.graph import Schema
from search.interfaces import MentionIndex
from search.language.names import find_names, ordinary_words

MOST_ENTITIES = 5
MOST_CHARACTERS_READ = 2_000
"""Number of characters at the start of a question that are searched for names."""
_KEPT = 8
_ordinary: OrderedDict[int, tuple[Schema, frozenset[str]]] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of the question that names nodes.

    `start` and `end` are offsets into the question, `keys` are all nodes with that name or alias. `sure` in [0, 1]
    is the confidence that the stretch is a name at all. It does not say which of several nodes is meant.
    """

    start: int
    end: int
    text: str
    keys: tuple[int, ...]
    sure: float


def entities(text: str, mentions: MentionIndex, schema: Schema, most: int = MOST_ENTITIES) -> list[Entity]:
    """Return up to `most` entities that a question names, by falling confidence, then in the order of the question.

    Ordinary words (function words, words of asking, words of the schema) count as names only if they are quoted or
    capitalised. Names that share words are all listed, although the question can mean only one of them.
    """
    named = find_names(text[:MOST_CHARACTERS_READ], mentions, _ordinary_of(schema), most, schema.language)
    found = [
        Entity(name.mention.start, name.mention.end, name.mention.text, name.mention.keys, name.sure) for name in named
    ]
    return sorted(found, key=lambda entity: (-entity.sure, entity.start, -entity.end))


def apart(found: Sequence[Entity]) -> list[Entity]:
    """Return the entities that share no words with a surer one, because only one of overlapping names can be meant.

    The given entities are in the order of `entities`.
    """
    kept: list[Entity] = []
    for entity in found:
        if all(entity.end <= other.start or entity.start >= other.end for other in kept):
            kept.append(entity)
    return kept


def _ordinary_of(schema: Schema) -> frozenset[str]:
    """Return the ordinary words of this schema object, from a cache of the `_KEPT` schemas used last."""
    with _lock:
        known = _ordinary.get(id(schema))
        if known is None:
            known = _ordinary[id(schema)] = (schema, ordinary_words(schema))
        _ordinary.move_to_end(id(schema))
        while len(_ordinary) > _KEPT:
            _ordinary.popitem(last=False)
    return known[1]
