"""Names of kinds by one of their words: *stoves* are in the category Camp Stoves, *enamel* is Enamelled Steel.

A name in the plural is that of a kind; one in the singular (*Glöd Twig Stove*) is one thing, which nobody means who
asks for several. Only types that gather others count (`Shape.gathering`): a word of a title names no kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from search.domain.graph import Node
from search.interfaces import Mention, MentionIndex, NodeStore, TextIndex
from search.language.words import FUNCTION_WORDS, stem, words

_NOUN, _DERIVED = 0.8, 0.6
"""Similarity of the noun of a name, and of a word from which a word of the name is derived, to the name."""
_MOST = 3
"""Most kinds that a word may mean."""
_READ = 50
"""Most nodes with a word whose names are looked at."""
_OPEN = 4
"""Most words that nothing explains in a question that asks for a kind."""
_LONGEST = 3
"""Most words of the name of a kind."""
_PLURAL = "s"
_SHORTEST = 4


@dataclass(frozen=True)
class KindNames:
    """Finds names of kinds among the nodes of some types."""

    mentions: MentionIndex
    nodes: NodeStore
    text: TextIndex
    types: Collection[int]

    def of(self, text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Mention]:
        """Yield the kinds that single words of some stretches of a text mean.

        Where many words are open, a text is told of, and none of its words asks for a kind.
        """
        open_words = [word for span in spans for word in _words(text, *span)]
        for start, end in open_words if len(open_words) <= _OPEN else ():
            said = stem(text[start:end])
            if found := self._by_noun(text, start, end, said):
                yield _mention(text, start, end, found, _NOUN)
            elif found := self._derived(text[start:end], said):
                yield _mention(text, start, end, found, _DERIVED)

    def _by_noun(self, text: str, start: int, end: int, said: str) -> list[Node]:
        """Return the kinds whose names end with the plural of a word."""
        keys = [key for mention in self.mentions.ending(text, start, end) for key in mention.keys]
        named = [(node, words(node.name)[-1:]) for node in self._kinds(keys)]
        return _few(node for node, last in named if last and last[0].endswith(_PLURAL) and stem(last[0]) == said)

    def _derived(self, word: str, said: str) -> list[Node]:
        """Return the kinds whose names have a longer word that is derived from a word: *enamelled* from *enamel*."""
        keys = [key for nodes, _ in self.text.postings(word) if len(nodes) <= _READ for key in nodes.tolist()]
        named = [(node, words(node.name)) for node in self._kinds(keys)]
        return _few(
            node
            for node, parts in named
            if len(parts) <= _LONGEST
            and any(stem(part) == said and part.startswith(word) and part != word for part in parts)
        )

    def _kinds(self, keys: Sequence[int]) -> list[Node]:
        kinds = [key for key, code in zip(keys, self.nodes.types(keys), strict=True) if int(code) in self.types]
        return self.nodes.references(kinds)


def _few(found: Iterator[Node]) -> list[Node]:
    """Return some kinds, or none if there are too many of them."""
    several = list(found)
    return several if len(several) <= _MOST else []


def _mention(text: str, start: int, end: int, found: Sequence[Node], similarity: float) -> Mention:
    keys = tuple(node.key for node in found)
    return Mention(start, end, text[start:end], keys, (False,) * len(keys), similarity, "synonym", found[0].name)


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for part in text[start:end].split():
        at = text.index(part, at)
        word = part.strip(".,;:!?()")
        if len(word) >= _SHORTEST and word.islower() and word not in FUNCTION_WORDS:
            first = text.index(word, at)
            yield first, first + len(word)
        at += len(part)
