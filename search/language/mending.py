"""Misspelt words of asking and of the schema, read as they were meant: *chepest tent wihtout poles*, *drgus for gout*.

Names are no matter of this file: they are corrected where they are looked up (`search/adapters/near_names`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import OSA

from search.language.common import is_word
from search.language.gloss import GlossedQuestion, Piece
from search.language.languages import forms, language, split

_SHORTEST = 4
"""Fewest letters of a word that is mended; in one of just so many, two letters have changed places."""
_LONG = 9
"""Fewest letters of a word with two errors."""
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"[\"“”«»„][^\"“”«»„]*[\"“”«»„]")
_LISTS = (
    ("words", ("function", "asking")), ("turning", ("not", "lack", "except")), ("comparisons", ("than", "same")),
    ("quantities", ("less", "more", "between")), ("superlatives", ("most", "fewest", "sorted", "counting")),
)  # fmt: skip
"""The tables and lists of a language's data whose words may be misspelt; the words of scales are further ones."""


def mended(
    text: str,
    code: str,
    schema: Collection[str] = frozenset(),
    known: Callable[[str], bool] = lambda word: False,
) -> GlossedQuestion:
    """Return a text of a language with its misspelt words of asking as they were meant, and the way back.

    A word is misspelt that is no word of the language, has no capital inside the text and stands in no quotes. `schema`
    are further words that may be meant; a word for which `known` is true is left as it is.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    quotes = [start for start, _ in quoted]
    begins = len(text) - len(text.lstrip())
    further = _by_letter(schema)
    found: dict[str, str] = {}
    written: list[str] = []
    pieces: list[Piece] = []
    at = length = 0
    for match in _pattern(code).finditer(text):
        said = match.group()
        before = bisect_right(quotes, match.start())
        free = not (before and match.start() < quoted[before - 1][1])
        meant = short = _shortened(code).get(said, "") if free else ""
        if free and not short and _mendable(said, begins=match.start() == begins):
            if (lowered := said.lower()) not in found:
                found[lowered] = _meant(lowered, code, schema, further)
            meant = found[lowered]
        if not meant or (not short and known(said)):
            continue
        kept = text[at : match.start()]
        pieces += [Piece(length, length + len(kept), (at, match.start()), known=False)] if kept else []
        length += len(kept)
        pieces.append(Piece(length, length + len(meant), match.span(), known=True))
        length += len(meant)
        written += [kept, meant]
        at = match.end()
    if not written:
        return GlossedQuestion(text, text, code, code, read=True)
    pieces.append(Piece(length, length + len(text) - at, (at, len(text)), known=False))
    return GlossedQuestion("".join([*written, text[at:]]), text, code, code, read=True, pieces=tuple(pieces))


@lru_cache(maxsize=8)
def _shortened(code: str) -> dict[str, str]:
    """Return the short forms of typing in a language with what they stand for: *w/o* → `without`."""
    return {
        short: f"{meant} " if short.endswith("/") else meant
        for short, meant in language(code).table("shortened").items()
    }


@lru_cache(maxsize=8)
def _pattern(code: str) -> re.Pattern[str]:
    """Return the pattern of a word, or of a short form with a mark in it."""
    marked = sorted((short for short in _shortened(code) if not short.isalpha()), key=len, reverse=True)
    ends = (re.escape(short) + (r"(?!\w)" if short[-1].isalpha() else "") for short in marked)
    return re.compile("|".join([*(rf"(?<![\w/]){one}" for one in ends), _WORD.pattern]))


def _mendable(said: str, *, begins: bool) -> bool:
    """Whether a word may be misspelt; inside a text one with a capital is a name."""
    return len(said) >= _SHORTEST and said[1:].islower() and (begins or said[0].islower())


def _meant(said: str, code: str, schema: Collection[str], further: Mapping[str, Sequence[str]]) -> str:
    """Return the word that a misspelt one means; empty if it is a word, or if none or several are as near."""
    if _is_known(said, code) or said in schema:
        return ""
    near = [*_near(said, _asking_by_letter(code)), *_near(said, further)]
    best = min((errors for errors, _ in near), default=0)
    several = {word for errors, word in near if errors == best}
    return several.pop() if len(several) == 1 else ""


def _near(said: str, among: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, str]]:
    """Yield the words that have the first letter of a word and are few errors away from it."""
    most = 2 if len(said) >= _LONG else 1
    alike = [word for word in among.get(said[:1], ()) if abs(len(word) - len(said)) <= most]
    for word, errors, _ in process.extract(said, alike, scorer=OSA.distance, score_cutoff=most, limit=None):
        if len(said) > _SHORTEST or sorted(word) == sorted(said):
            yield int(errors), word


@lru_cache(maxsize=20_000)
def _is_known(said: str, code: str) -> bool:
    return is_word(said, code) or said in _asking(code)


@lru_cache(maxsize=8)
def _asking(code: str) -> frozenset[str]:
    """Return the single words of a language with which things are asked for, and those that name properties."""
    scales = language(code).value("scales", default=())
    nouns = {form for scale in scales for entry in split(scale.get("nouns", "")) for form in forms(entry)}
    return asking_forms(code) | {noun for noun in nouns if len(noun) >= _SHORTEST and noun.isalpha()}


@lru_cache(maxsize=32)
def asking_forms(code: str) -> frozenset[str]:
    """Return the single words of a language with which things are asked for."""
    lang = language(code)
    found = {word for table, lists in _LISTS for name in lists for word in _texts(lang.value(table, name, default=""))}
    for scale in lang.value("scales", default=()):
        written = [scale.get(name, "") for name in ("high", "low", "verbs")]
        found |= {form for text in written for entry in split(text.replace("|", ",")) for form in forms(entry)}
    found |= {word + end for word in found for end in lang.entries("adjectives", "endings")}
    return frozenset(word for word in found if len(word) >= _SHORTEST and word.isalpha())


@lru_cache(maxsize=8)
def _asking_by_letter(code: str) -> dict[str, list[str]]:
    return _by_letter(_asking(code))


def _by_letter(words: Collection[str]) -> dict[str, list[str]]:
    """Return words by their first letters."""
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(word[:1], []).append(word)
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    else:
        yield from (form for entry in split(str(value)) for form in forms(entry))
