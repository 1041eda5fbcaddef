"""The words and phrases of a question that a dictionary knows, with spaces between words or without."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from search.language.glossing.dictionary import Dictionary, Entry
from search.language.languages import language
from search.language.number_words import number_words
from search.language.tokens import Token, tokens

_COMPOUNDS = frozenset(("de", "nl", "sv"))
_LINKS = ("", "s", "es", "n", "en", "e", "er")
"""Letters that join the parts of a compound: German *Arbeit-s-ort*."""
_PLURAL_ENDS: dict[str, tuple[str, ...]] = {
    "de": ("n", "e", "er", "s"), "en": ("s",), "es": ("s",), "fr": ("s", "x"), "it": ("i", "e"), "nl": ("n", "s"),
    "pt": ("s",), "sv": ("r", "n"),
}  # fmt: skip
"""Endings that mark the plural of a noun that is not in the dictionary in this form."""
_SHORTEST_PART = 4
_SHORTEST_COMPOUND = 9
_QUOTED = re.compile(r"[\"“”«»„「『]([^\"“”«»„」』]*)[\"“”«»」』]")
_RUN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー]+|(?:(?![\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー])[^\W_])+"
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー]")
_NUMBER = Entry("", "", "f")


@dataclass(frozen=True, slots=True)
class Part:
    """A word or phrase of the question with its entry (None: unknown) and what stands before it."""

    start: int
    end: int
    text: str
    entry: Entry | None
    mark: bool = False


def by_words(text: str, words: Dictionary, source: str) -> list[Part]:
    """Return the parts of a text whose words are separated by spaces."""
    said = tokens(text)
    kept = _kept(text, said, source)
    numbers = number_words(source)
    parts: list[Part] = []
    at = 0
    while at < len(said):
        length, entry, plural = (1, None, False) if kept[at] == "quoted" else _longest(said, at, words, source)
        if kept[at] == "name" and length == 1 and not (entry and entry.kind == "name"):
            entry = None
        if length == 1 and said[at].capital and (said[at].word,) not in words.phrases and _beside_name(said, at, words):
            entry = None  # *Lamp* in *Harmonica Lamp*: a form that the dictionary does not have, beside a name
        number = numbers.at(said, at) if entry is None and not kept[at] else None
        if number and number[1] > 1:
            last = said[at + number[0] - 1]
            parts.append(Part(said[at].start, last.end, str(number[1]), _NUMBER, bool(said[at].mark)))
            at += number[0]
            continue
        token, last = said[at], said[at + length - 1]
        written = text[token.start : last.end]
        if entry is None and not kept[at] and (compound := _compound(token.word, words, source)):
            written, entry = compound, Entry(compound, compound, "n")
        elif entry is not None:
            written = entry.plural if plural else entry.word
            if written and written[0].isupper() and entry.kind == "n":
                written = entry.word
        parts.append(Part(token.start, last.end, written, entry, bool(token.mark)))
        at += length
    return parts


def _longest(said: Sequence[Token], at: int, words: Dictionary, source: str) -> tuple[int, Entry | None, bool]:
    """Return the number of words, the entry and whether it is a plural, of the longest phrase that begins at a word."""
    most = 1
    while most < words.longest and at + most < len(said) and not said[at + most].mark:
        most += 1
    for length in range(most, 0, -1):
        key = tuple(token.word for token in said[at : at + length])
        if entry := words.phrases.get(key):
            return length, entry, key in words.plurals
    word = said[at].word
    entry = words.stems.get(words.stem(word)) if len(word) >= _SHORTEST_PART else None
    return 1, entry, entry is not None and entry.kind == "n" and word.endswith(_PLURAL_ENDS.get(source, ()))


def _beside_name(said: Sequence[Token], at: int, words: Dictionary) -> bool:
    """Whether a word with a capital that the dictionary does not have stands right before or behind a word."""
    for near in (at - 1, at + 1):
        if 0 <= near < len(said) and said[near].capital and near and not said[max(near, at)].mark:
            word = said[near].word
            if (word,) not in words.phrases and words.stem(word) not in words.stems:
                return True
    return False


def _kept(text: str, said: Sequence[Token], source: str) -> list[str]:
    """Return for each word whether it is `quoted`, part of a `name` with capitals, or neither (empty)."""
    inside = bytearray(len(text))
    for match in _QUOTED.finditer(text):
        inside[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    kept = ["quoted" if inside[token.start] else "" for token in said]
    if source == "de":
        return kept
    for at, token in enumerate(said):
        if at and token.capital and not kept[at] and said[at - 1].mark not in (".", "?", "!", "¿", "¡"):
            kept[at] = "name"
    function = language(source).set("words", "function") | {"de", "del", "di", "da", "van", "von", "la", "le"}
    for at in range(1, len(said) - 1):
        # Juan *de la* Cruz: small words between two capitals belong to the name.
        if kept[at] or said[at].mark or said[at].word not in function or kept[at - 1] != "name":
            continue
        behind = at + 1
        while behind < min(len(said) - 1, at + 3) and said[behind].word in function and not said[behind].capital:
            behind += 1
        if kept[behind] == "name" and not any(said[place].mark for place in range(at, behind + 1)):
            kept[at] = "name"
    return kept


def _compound(word: str, words: Dictionary, source: str) -> str:
    """Return a compound of two known nouns: *Krebsmedikamente* → `cancer drugs`; empty if it is none."""
    if source not in _COMPOUNDS or len(word) < _SHORTEST_COMPOUND:
        return ""
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


def segmented(text: str, words: Dictionary) -> list[Part]:
    """Return the parts of a text without spaces: always the longest word of the dictionary that begins at a place."""
    parts: list[Part] = []
    behind = 0
    for run in _RUN.finditer(text):
        mark = bool(text[behind : run.start()].strip())
        behind = run.end()
        if not _WIDE.match(run.group()):
            parts.append(Part(run.start(), run.end(), run.group(), None, mark))
            continue
        for part in _cut(run.group().casefold(), run.start(), words):
            parts.append(replace(part, mark=mark) if not part.start - run.start() else part)
    return parts


def _cut(run: str, start: int, words: Dictionary) -> list[Part]:
    parts: list[Part] = []
    at = unknown = 0
    while at < len(run):
        for length in range(min(words.longest, len(run) - at), 0, -1):
            entry = words.phrases.get(tuple(run[at : at + length]))
            if entry is not None:
                if unknown < at:
                    parts.append(Part(start + unknown, start + at, run[unknown:at], None))
                parts.append(Part(start + at, start + at + length, entry.word, entry))
                at += length
                unknown = at
                break
        else:
            at += 1
    if unknown < at:
        parts.append(Part(start + unknown, start + at, run[unknown:at], None))
    return parts
