"""Which meaning a word of a question has among those of the dictionary and of the word list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from search.language.common import common_words
from search.language.glossing.dictionary import DictionaryEntry, pluralised
from search.language.glossing.lists import Meaning, WordList
from search.language.glossing.wanted import Wanted

_CONTENT = frozenset(("n", "a", "v"))
_SHORTEST_SMALL = 4
"""Fewest letters of a word that is listed with the function words and may still be a noun: Italian *stato*."""

Chosen = tuple[int, DictionaryEntry, bool]
"""Number of words, their entry, and whether it is a plural."""


@dataclass(frozen=True)
class ListedWords:
    """The word list of a language (None without one), its function words, what a knowledge base speaks of, and the
    endings that mark the plural of a noun.
    """

    words: WordList | None
    small: frozenset[str]
    wanted: Wanted
    plural_ends: tuple[str, ...] = ()

    def says_schema(self, word: str) -> bool:
        """Whether a word is listed with a meaning of the schema, and is no name."""
        return bool(self.of_schema(word)) and not self.wanted.is_name(word)

    def of_schema(self, word: str) -> str:
        """Return the likeliest meaning of a word that is a word of the schema; empty if none is."""
        found = self.words.meanings([word]) if self.words is not None and self.wanted.schema else []
        likely = {meant: self.wanted.likeness(meant, word) for one in found for meant in one.words}
        return max(likely, key=lambda meant: likely[meant]) if any(likely.values()) else ""

    def instead(self, said: Sequence[str], entry: DictionaryEntry | None) -> Chosen | None:
        """Return what the first of the words means instead of the dictionary's entry; None where the entry stays.

        An entry stays, unless the list has a word of the schema and the entry is none or less like the word that is
        said. Without an entry the first word of the list counts, where the word is no name.
        """
        word, small = said[0], said[0] in self.small
        if self.words is None or (small and len(word) < _SHORTEST_SMALL):
            return None
        if entry is not None and (entry.kind not in _CONTENT or not self.wanted.schema):
            return None
        found = self.words.meanings(said)
        best, likely = self.wanted.likeness(entry.word, word) if entry is not None else 0.0, None
        for meant, chosen in self._choices(word, found, entry, nouns=small):
            if (likeness := self.wanted.likeness(meant, word)) > best:
                best, likely = likeness, chosen
        if likely is not None or entry is not None or small or self.wanted.is_name(word):
            return likely
        return self._without_entry(word, found)

    def _without_entry(self, word: str, found: Sequence[Meaning]) -> Chosen | None:
        """Return a meaning of which the base speaks, else the first; a word that English has too stays."""
        if not found:
            cognate = self.wanted.cognate(word)
            return (1, DictionaryEntry(cognate, cognate, "n"), False) if cognate else None
        choices = list(self._choices(word, found, None, nouns=False))
        known = (chosen for meant, chosen in choices if self.wanted.is_known(meant))
        return next(known, None if word in common_words("en") else choices[0][1])

    def _choices(
        self, word: str, found: Sequence[Meaning], entry: DictionaryEntry | None, *, nouns: bool
    ) -> Iterator[tuple[str, Chosen]]:
        """Yield the further words of an entry and those of the list (with `nouns` no others), each with the choice."""
        if entry is not None:
            yield from ((meant, (1, replace(entry, word=meant, plural=meant), False)) for meant in entry.others)
        # A form of a noun in the list is its plural, by its ending.
        plural = word.endswith(self.plural_ends) and any(one.kind == "n" and one.distance >= 0 for one in found)
        for one in found:
            for meant in one.words if one.kind == "n" or not nouns else ():
                several = pluralised(meant) if one.kind == "n" else meant
                yield meant, (one.length, DictionaryEntry(meant, several, one.kind), plural and one.kind == "n")
