"""The entities that a question names, for any pipeline: which nodes, where it says so, and how sure that is.

entities("Which films did Ann Arbor direct?", tools.mentions, tools.schema)
→ [Entity(start=16, end=25, text="Ann Arbor", keys=(8, 18), sure=0.9)]
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from search.domain.graph import Schema
from search.interfaces import MentionIndex
from search.language.names import Named, find_names, ordinary_words

MOST_ENTITIES = 5
MOST_CHARACTERS_READ = 2_000
"""Characters of a question that are read for names."""
_QUOTED, _MARKED, _LONG, _EXACT, _LIKE = 0.95, 0.9, 0.7, 0.5, 0.25
"""How sure a name is that the question quotes; writes with a capital, in the case of the node; that has several words;
that is one word in the case of the node; any other. Round numbers that say what counts for more, not a fit."""
_KEPT = 8
_ordinary: OrderedDict[int, tuple[Schema, frozenset[str]]] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of the question that names nodes.

    `start` and `end` are offsets into the question, `keys` are all nodes of that name or alias. `sure` in [0, 1] says
    how far the stretch is to be believed to be a name at all; which of several nodes it names is another matter.
    """

    start: int
    end: int
    text: str
    keys: tuple[int, ...]
    sure: float


def entities(text: str, mentions: MentionIndex, schema: Schema, most: int = MOST_ENTITIES) -> list[Entity]:
    """Return up to `most` entities that a question names, the surest first, equally sure ones in its order.

    Ordinary words (those of grammar, of asking, of the schema) are names only where quotes or capitals say so. Where
    names share words each of them is listed: no more than one of these can be meant.
    """
    named = find_names(text[:MOST_CHARACTERS_READ], mentions, _ordinary_of(schema), most)
    found = [
        Entity(name.mention.start, name.mention.end, name.mention.text, name.mention.keys, how_sure(name))
        for name in named
    ]
    return sorted(found, key=lambda entity: (-entity.sure, entity.start, -entity.end))


def how_sure(name: Named) -> float:
    """Return in [0, 1] how far a stretch is to be believed to be a name; less where its spelling was mended."""
    if name.quoted:
        sure = _QUOTED
    elif name.capitalised and name.exact:
        sure = _MARKED
    elif name.words > 1:
        sure = _LONG
    else:
        sure = _EXACT if name.exact else _LIKE
    return sure * name.mention.similarity


def _ordinary_of(schema: Schema) -> frozenset[str]:
    """Return the ordinary words of this very schema, worked out once; the newest few are kept."""
    with _lock:
        known = _ordinary.get(id(schema))
        if known is None:
            known = _ordinary[id(schema)] = (schema, ordinary_words(schema))
        _ordinary.move_to_end(id(schema))
        while len(_ordinary) > _KEPT:
            _ordinary.popitem(last=False)
    return known[1]
