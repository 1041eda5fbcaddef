"""Compounds of two known words in German, Dutch and Swedish."""

from __future__ import annotations

from search.language.glossing.dictionary import Dictionary
from search.language.glossing.listed import ListedWords

_COMPOUNDS = frozenset(("de", "nl", "sv"))
_LINKS = ("", "s", "es", "n", "en", "e", "er")
"""Letters that join the parts of a compound: German *Arbeit-s-ort*."""
_SHORTEST_PART = 4
_SHORTEST_COMPOUND = 9


def compound(word: str, words: Dictionary, listed: ListedWords, source: str) -> str:
    """Return a compound in English: *Krebsmedikamente* → `cancer drugs`; empty if it is none.

    Both parts are in the dictionary, or the second means a word of the schema; then a first part that means none is
    left out: *Bundesstaat* → `state`.
    """
    if source not in _COMPOUNDS or len(word) < _SHORTEST_COMPOUND:
        return ""
    return _known(word, words) or _of_schema(word, listed)


def _known(word: str, words: Dictionary) -> str:
    for cut in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        behind = words.phrases.get((word[cut:],)) or words.stems.get(words.stem(word[cut:]))
        if behind is None or behind.kind != "n":
            continue
        for link in _LINKS:
            first = words.phrases.get((word[:cut].removesuffix(link),)) if word[:cut].endswith(link) else None
            if first is not None and first.kind in ("n", "a"):
                plural = (word[cut:],) not in words.phrases or (word[cut:],) in words.plurals
                return f"{first.word} {behind.plural if plural else behind.word}"
    return ""


def _of_schema(word: str, listed: ListedWords) -> str:
    for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        if behind := listed.of_schema(word[cut:]):
            parts = (word[:cut].removesuffix(link) for link in _LINKS if word[:cut].endswith(link))
            first = next(filter(None, (listed.of_schema(part) for part in parts if len(part) >= _SHORTEST_PART)), "")
            return f"{first} {behind}".strip()
    return ""
