"""Names of kinds by their noun alone: *stoves* are in the category Camp Stoves, *throws* in Blankets & Throws.

A name in the plural is that of a kind; a name in the singular (*Glöd Twig Stove*) is one thing, which nobody means who
asks for several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from search.interfaces import Mention, MentionIndex, NodeStore
from search.language.words import FUNCTION_WORDS, stem, words

_SURE = 0.8
"""Similarity of the noun of a name to the name."""
_MOST = 3
"""Most kinds that a noun may mean."""
_PLURAL = "s"
_SHORTEST = 4


def kind_names(
    text: str, spans: Sequence[tuple[int, int]], mentions: MentionIndex, nodes: NodeStore
) -> Iterator[Mention]:
    """Yield the kinds whose names end with a word of some stretches of a text, in the plural."""
    for start, end in spans:
        for first, last in _words(text, start, end):
            for mention in mentions.ending(text, first, last):
                if (kinds := _kinds(text[first:last], mention, nodes)) and len(kinds) <= _MOST:
                    exact = (False,) * len(kinds)
                    yield replace(mention, keys=kinds, exact=exact, similarity=_SURE, meant=_meant(kinds, nodes))


def _kinds(said: str, mention: Mention, nodes: NodeStore) -> tuple[int, ...]:
    """Return the nodes of a mention whose names end with the plural of a word."""
    found = []
    for node in nodes.references(mention.keys):
        named = words(node.name)
        if named and named[-1].endswith(_PLURAL) and stem(named[-1]) == stem(said.casefold()):
            found.append(node.key)
    return tuple(found)


def _meant(keys: Sequence[int], nodes: NodeStore) -> str:
    return nodes.references(keys[:1])[0].name


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for part in text[start:end].split():
        at = text.index(part, at)
        word = part.strip(".,;:!?()")
        if len(word) >= _SHORTEST and word.islower() and word not in FUNCTION_WORDS:
            first = text.index(word, at)
            yield first, first + len(word)
        at += len(part)
