"""The words and phrases of a question that a dictionary knows, with spaces between words or without."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from search.language.glossing.compounds import compound
from search.language.glossing.dictionary import ASKING, Dictionary, DictionaryEntry
from search.language.glossing.listed import ListedWords
from search.language.glossing.lists import LONGEST, word_list
from search.language.glossing.wanted import Wanted
from search.language.number_words import number_words
from search.language.tokens import Token, tokens
from search.language.words import BEING, function_words

_PLURAL_ENDS: dict[str, tuple[str, ...]] = {
    "de": ("n", "e", "er", "s"), "en": ("s",), "es": ("s",), "fr": ("s", "x"), "it": ("i", "e"), "nl": ("n", "s"),
    "pt": ("s",), "sv": ("r", "n"),
}  # fmt: skip
"""Endings that mark the plural of a noun that is not in the dictionary in this form."""
_SHORTEST_PART = 4
_QUOTED = re.compile(r"[\"“”«»„「『]([^\"“”«»„」』]*)[\"“”«»」』]")
_RUN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー]+|(?:(?![\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー])[^\W_])+"
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー]")
_NUMBER = DictionaryEntry("", "", "f")
_SAID = DictionaryEntry("", "", "f")
"""Entry of a word whose meaning stands elsewhere."""
_LONGEST_NAME = 4
"""Most words of a name that is looked up."""
_CLAUSE = 16
"""Largest number of words between two words that belong together."""
_JOINING = frozenset(("und", "oder", "aber", "en", "of", "maar"))
"""Words behind which another clause begins."""
_INFLECTED_NAMES = frozenset(("pl", "ru"))
_PARTICLES = frozenset((
    "de", "del", "della", "dei", "di", "da", "do", "dos", "das", "du", "des", "d", "van", "von", "der", "den", "la",
    "le", "les", "el", "los", "las", "lo", "of", "the", "y", "e", "et", "und", "en",
))  # fmt: skip
"""Small words that belong to the name between whose words with capitals they stand: *Juan de la Cruz*."""
_WITH_CONJUNCTION = frozenset(("y", "e", "et", "und", "en"))


@dataclass(frozen=True, slots=True)
class GlossPart:
    """A word or phrase of the question with its entry (None: unknown) and what stands before it."""

    start: int
    end: int
    text: str
    entry: DictionaryEntry | None
    mark: bool = False


def by_words(text: str, words: Dictionary, source: str, into: str, wanted: Wanted) -> list[GlossPart]:
    """Return the parts of a text whose words are separated by spaces."""
    listed = ListedWords(word_list(source, into), function_words(source), wanted, _PLURAL_ENDS.get(source, ()))
    reader = _Reader(text, tokens(text), words, listed, source)
    parts: list[GlossPart] = []
    at = 0
    while at < len(reader.said):
        part, length = reader.part(at)
        parts.append(part)
        at += length
    return _quoting(text, parts, into)


class _Reader:
    """Reads one text: which part begins at a word, and how many words it has."""

    def __init__(self, text: str, said: Sequence[Token], words: Dictionary, listed: ListedWords, source: str) -> None:
        self.text, self.said, self._words, self._listed, self._source = text, said, words, listed, source
        self._kept = _kept(text, said, source, listed)
        self._keep_names()
        self._numbers = number_words(source)
        self._opened, self._closed = _parted(said, self._kept, words)

    def _keep_names(self) -> None:
        """Keep the words of names of several words: *rio grande* is no large river where it is a name."""
        for at, token in enumerate(self.said):
            for last in range(min(len(self.said), at + _LONGEST_NAME) - 1, at, -1):
                apart = any(said.mark for said in self.said[at + 1 : last + 1]) or "quoted" in self._kept[at : last + 1]
                if not apart and self._listed.wanted.is_name(self.text[token.start : self.said[last].end]):
                    self._kept[at : last + 1] = ["quoted"] * (last + 1 - at)
                    break

    def part(self, at: int) -> tuple[GlossPart, int]:
        """Return the part that begins at a word, and its number of words."""
        said = self.said
        if at in self._opened:
            length, entry = self._opened[at]
            return self._part(at, length, entry.word, entry), length
        if at in self._closed:
            return self._part(at, self._closed[at], "", _SAID), self._closed[at]
        length, known, plural = self._known(at)
        number = self._numbers.at(said, at) if known is None and not self._kept[at] else None
        if number and number[1] > 1:
            return self._part(at, number[0], str(number[1]), _NUMBER), number[0]
        if known is None and not self._kept[at]:
            made = compound(said[at].word, self._words, self._listed, self._source)
            if made:
                return self._part(at, length, made, DictionaryEntry(made, made, "n")), length
        if known is None:
            return self._part(at, length, self.text[said[at].start : said[at + length - 1].end], None), length
        written = known.plural if plural else known.word
        if written and written[0].isupper() and known.kind == "n":
            written = known.word
        return self._part(at, length, written, known), length

    def _known(self, at: int) -> tuple[int, DictionaryEntry | None, bool]:
        """Return number of words, entry, and whether it is a plural, of what begins at a word; names have no entry."""
        said, words = self.said, self._words
        if self._kept[at] == "quoted":
            return 1, None, False
        if (timely := words.timely.get(said[at].word)) and at + 1 < len(said) and said[at + 1].word.isdigit():
            return 1, timely, False
        length, entry, plural = _longest(said, at, words, self._source)
        if length == 1 and (twin := words.twins.get(said[at].word)) and self._is_twin(at, twin):
            entry = twin
        if self._kept[at] == "name" and length == 1 and not _is_name(said[at], entry, words, self._source):
            entry = None  # *Julia* is no month, although *julio* has its stem
        if length == 1 and said[at].capital and (said[at].word,) not in words.phrases and _beside_name(said, at, words):
            entry = None  # *Lamp* in *Harmonica Lamp*: a form that the dictionary does not have, beside a name
        if length == 1 and entry is not None and (said[at].word,) not in words.phrases:
            wanted, word = self._listed.wanted, said[at].word
            if wanted.is_name(word) and not wanted.likeness(entry.word, word):
                entry = None  # *colorado*, which has the stem of *color*
        if length == 1 and not self._kept[at] and not self._numbers.at(said, at):
            return self._listed.instead(self._following(at), entry) or (length, entry, plural)
        return length, entry, plural

    def _is_twin(self, at: int, twin: DictionaryEntry) -> bool:
        """Whether a word at this place has an accent that was not typed: *que rio …*, *qual e il fiume …*."""
        if twin.word in ASKING:
            return at == 0
        before = self._words.phrases.get((self.said[at - 1].word,)) if at else None
        return twin.word in BEING and before is not None and before.word in ASKING

    def _following(self, at: int) -> list[str]:
        """Return the words from a place on that may belong to one phrase."""
        end = at + 1
        while end < min(len(self.said), at + LONGEST) and not self.said[end].mark and not self._kept[end]:
            end += 1
        return [token.word for token in self.said[at:end]]

    def _part(self, at: int, length: int, written: str, entry: DictionaryEntry | None) -> GlossPart:
        token, last = self.said[at], self.said[at + length - 1]
        return GlossPart(token.start, last.end, written, entry, bool(token.mark))


def _quoting(text: str, parts: list[GlossPart], into: str) -> list[GlossPart]:
    """Return the parts; small words of the other language between its words stay: *the hinge of an ice* in French."""
    small = function_words(into)
    for at in range(1, len(parts) - 1):
        part = parts[at]
        said = text[part.start : part.end]
        near = (parts[at - 1], parts[at + 1])
        if part.entry and said in small and all(other.entry is None and other.text.islower() for other in near):
            parts[at] = replace(part, text=said, entry=None)
    return parts


def _parted(
    said: Sequence[Token], kept: Sequence[str], words: Dictionary
) -> tuple[dict[int, tuple[int, DictionaryEntry]], dict[int, int]]:
    """Return the places of the first and second parts of pairs of words, with their lengths; the first has the meaning.

    The second part of a German separable verb ends its clause: *welche Wege hängen mit Krebs zusammen*.
    """
    opened: dict[int, tuple[int, DictionaryEntry]] = {}
    closed: dict[int, int] = {}
    for at, token in enumerate(said):
        if kept[at]:
            continue
        for first, second, entry in words.parted.get(token.word, ()):
            behind = at + len(first)
            if at in closed or not _stands(said, at, first):
                continue
            place = _clause_end(said, behind, second)
            if place is not None and place not in closed:
                opened[at], closed[place] = (len(first), entry), len(second)
                break
    return opened, closed


def _clause_end(said: Sequence[Token], begins: int, second: tuple[str, ...]) -> int | None:
    """Return the place of the words with which the clause from a place on ends; None if it ends otherwise."""
    for at in range(begins, min(len(said), begins + _CLAUSE)):
        if at > begins and said[at].mark:
            return None
        behind = at + len(second)
        ends = behind >= len(said) or said[behind].mark or said[behind].word in _JOINING
        if ends and _stands(said, at, second):
            return at
    return None


def _stands(said: Sequence[Token], at: int, phrase: tuple[str, ...]) -> bool:
    """Whether the words of a phrase stand from a place on."""
    return tuple(token.word for token in said[at : at + len(phrase)]) == phrase


def _longest(
    said: Sequence[Token], at: int, words: Dictionary, source: str
) -> tuple[int, DictionaryEntry | None, bool]:
    """Return the number of words, the entry and whether it is a plural, of the longest phrase that begins at a word."""
    most = 1
    while most < words.longest and at + most < len(said) and not said[at + most].mark:
        most += 1
    for length in range(most, 0, -1):
        key = tuple(token.word for token in said[at : at + length])
        if length == 1 and source == "de" and at and said[at].capital and (noun := words.nouns.get(said[at].word)):
            return 1, *noun
        if entry := words.phrases.get(key):
            return length, entry, key in words.plurals
    word = said[at].word
    entry = words.stems.get(words.stem(word)) if len(word) >= _SHORTEST_PART else None
    return 1, entry, entry is not None and entry.kind == "n" and word.endswith(_PLURAL_ENDS.get(source, ()))


def _is_name(token: Token, entry: DictionaryEntry | None, words: Dictionary, source: str) -> bool:
    """Whether an entry is a name in this form, or in any form where the language inflects names."""
    return entry is not None and entry.kind == "name" and (source in _INFLECTED_NAMES or (token.word,) in words.phrases)


def _beside_name(said: Sequence[Token], at: int, words: Dictionary) -> bool:
    """Whether a word with a capital that the dictionary does not have stands right before or behind a word."""
    for near in (at - 1, at + 1):
        if 0 <= near < len(said) and said[near].capital and near and not said[max(near, at)].mark:
            word = said[near].word
            if (word,) not in words.phrases and words.stem(word) not in words.stems:
                return True
    return False


def _kept(text: str, said: Sequence[Token], source: str, listed: ListedWords) -> list[str]:
    """Return for each word whether it is `quoted`, part of a `name` with capitals, or neither (empty).

    A word of the schema with a capital is no name: *Quels États …*.
    """
    inside = bytearray(len(text))
    for match in _QUOTED.finditer(text):
        inside[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    kept = ["quoted" if inside[token.start] else "" for token in said]
    if source == "de":
        return kept
    for at, token in enumerate(said):
        begins = not at or said[at - 1].mark in (".", "?", "!", "¿", "¡")
        if token.capital and not kept[at] and not begins and not listed.says_schema(token.word):
            kept[at] = "name"
    for at in range(1, len(said) - 1):
        # Juan *de la* Cruz, but not Mac *y en* Windows.
        if kept[at] or said[at].mark or said[at].word not in _PARTICLES or kept[at - 1] != "name":
            continue
        behind = at + 1
        while behind < min(len(said) - 1, at + 3) and said[behind].word in _PARTICLES and not said[behind].capital:
            behind += 1
        between = range(at, behind)
        apart = len(between) > 1 and any(said[place].word in _WITH_CONJUNCTION for place in between)
        if kept[behind] == "name" and not apart and not any(said[place].mark for place in range(at, behind + 1)):
            kept[at] = "name"
    return kept


def segmented(text: str, words: Dictionary) -> list[GlossPart]:
    """Return the parts of a text without spaces: always the longest word of the dictionary that begins at a place."""
    parts: list[GlossPart] = []
    behind = 0
    for run in _RUN.finditer(text):
        mark = bool(text[behind : run.start()].strip())
        behind = run.end()
        if not _WIDE.match(run.group()):
            parts.append(GlossPart(run.start(), run.end(), run.group(), None, mark))
            continue
        for part in _cut(run.group().casefold(), run.start(), words):
            parts.append(replace(part, mark=mark) if not part.start - run.start() else part)
    return parts


def _cut(run: str, start: int, words: Dictionary) -> list[GlossPart]:
    parts: list[GlossPart] = []
    at = unknown = 0
    while at < len(run):
        for length in range(min(words.longest, len(run) - at), 0, -1):
            entry = words.phrases.get(tuple(run[at : at + length]))
            if entry is not None:
                if unknown < at:
                    parts.append(GlossPart(start + unknown, start + at, run[unknown:at], None))
                parts.append(GlossPart(start + at, start + at + length, entry.word, entry))
                at += length
                unknown = at
                break
        else:
            at += 1
    if unknown < at:
        parts.append(GlossPart(start + unknown, start + at, run[unknown:at], None))
    return parts
