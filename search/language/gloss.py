"""A question in another language, read word by word in the language of the knowledge base.

gloss("Quels médicaments traitent la polyarthrite ?", "fr", "en").text → "which drugs treat the polyarthrite ?"

A gloss is no translation. Words that the dictionary does not have stay as they are; names of nodes among them are found
by their spelling or by vectors. Word order changes only for adjectives behind their noun (French, Spanish, Italian,
Portuguese), for words behind what they govern (Japanese), and for words around it (Chinese).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from search.language.cues import Span
from search.language.glossing.dictionary import WITHOUT_SPACES, Dictionary, Entry, dictionary
from search.language.languages import language as language_data
from search.language.number_words import number_words
from search.language.tokens import Token, tokens

MOST_CHARACTERS_READ = 10_000
_NOUN_FIRST = frozenset(("fr", "es", "it", "pt"))
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
_SIGNS = str.maketrans("？！。，、；：（）「」『』・", '?!.,,;:()"""" ')
_DROPPED_SIGNS = re.compile(r"[¿¡]")
_RUN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー]+|(?:(?![\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー])[^\W_])+"
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々ー]")
_PLURAL_AFTER = frozenset(("which", "how many", "number of", "all", "many"))
_WITHIN = 8
"""Largest number of pieces between two words that stand around what they mean."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a gloss and the stretch of the question that it renders.

    `known` is False for words that the dictionary does not have. The text of a piece may be empty, for a word that the
    other language does not say.
    """

    start: int
    end: int
    origin: Span
    known: bool


@dataclass(frozen=True, slots=True)
class Gloss:
    """A question read in the language `into`, and the way back to its words.

    Without a dictionary for its language `text` is the question itself and `read` is False.
    """

    text: str
    original: str
    language: str
    into: str
    read: bool
    pieces: tuple[Piece, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the gloss differs from the question."""
        return self.text != self.original

    @property
    def unread(self) -> tuple[Span, ...]:
        """Stretches of the gloss whose words are not in the dictionary: names, and words that are not understood."""
        return tuple((piece.start, piece.end) for piece in self.pieces if not piece.known)

    def origin(self, start: int, end: int) -> Span:
        """Return the stretch of the question that a stretch of the gloss renders."""
        if not self.changed:
            return start, end
        touched = [piece for piece in self._near(start, end) if piece.start < end and start < piece.end]
        if not touched:
            return 0, 0
        if len(touched) == 1 and not touched[0].known:
            offset = touched[0].origin[0] - touched[0].start
            return max(start, touched[0].start) + offset, min(end, touched[0].end) + offset
        return min(piece.origin[0] for piece in touched), max(piece.origin[1] for piece in touched)

    def place(self, start: int, end: int) -> Span:
        """Return the stretch of the gloss that renders a stretch of the question; empty if nothing does."""
        if not self.changed:
            return start, end
        touched = [p for p in self.pieces if p.origin[0] < end and start < p.origin[1] and p.start < p.end]
        if not touched:
            return 0, 0
        return min(piece.start for piece in touched), max(piece.end for piece in touched)

    def _near(self, start: int, end: int) -> Sequence[Piece]:
        first = bisect_right([piece.start for piece in self.pieces], start) - 1
        last = bisect_right([piece.start for piece in self.pieces], end)
        return self.pieces[max(0, first) : last]


@dataclass(frozen=True, slots=True)
class _Part:
    """A word or phrase of the question with its entry (None: unknown) and what stands before it."""

    start: int
    end: int
    text: str
    entry: Entry | None
    mark: bool = False


_NO = Entry("", "", "")
_NUMBER = Entry("", "", "f")


def gloss(text: str, source: str, into: str) -> Gloss:
    """Return a question in the language `source` read in the language `into`.

    Words in quotes and names with capitals stay as they are. A text longer than `MOST_CHARACTERS_READ` is cut.
    """
    source, into = (code.lower().replace("_", "-").split("-")[0] for code in (source, into))
    words = dictionary(source, into)
    text = text[:MOST_CHARACTERS_READ]
    if source == into or words is None:
        return Gloss(text, text, source, into, read=source == into)
    parts = _plurals(_segmented(text, words) if source in WITHOUT_SPACES else _by_words(text, words, source))
    gaps = _gaps(text, parts)
    if source in _NOUN_FIRST:
        parts = _adjectives_first(parts)
    if source in WITHOUT_SPACES:
        parts = _particles_first(_unwrapped(parts, words))
    return _written(text, parts, gaps, source, into)


def _by_words(text: str, words: Dictionary, source: str) -> list[_Part]:
    """Return the parts of a text whose words are separated by spaces."""
    said = tokens(text)
    kept = _kept(text, said, source)
    numbers = number_words(source)
    parts: list[_Part] = []
    at = 0
    while at < len(said):
        length, entry, plural = (1, None, False) if kept[at] == "quoted" else _longest(said, at, words, source)
        if kept[at] == "name" and length == 1 and not (entry and entry.kind == "name"):
            entry = None
        number = numbers.at(said, at) if entry is None and not kept[at] else None
        if number and number[1] > 1:
            last = said[at + number[0] - 1]
            parts.append(_Part(said[at].start, last.end, str(number[1]), _NUMBER, bool(said[at].mark)))
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
        parts.append(_Part(token.start, last.end, written, entry, bool(token.mark)))
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
    function = language_data(source).set("words", "function") | {"de", "del", "di", "da", "van", "von", "la", "le"}
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


def _adjectives_first(parts: list[_Part]) -> list[_Part]:
    """Put adjectives before the noun that they follow: *enfermedades raras* → `rare diseases`."""
    ordered = list(parts)
    for at in range(len(ordered) - 1):
        noun, adjective = ordered[at], ordered[at + 1]
        kinds = (noun.entry or _NO).kind, (adjective.entry or _NO).kind
        if kinds == ("n", "a") and not adjective.mark:
            ordered[at], ordered[at + 1] = replace(adjective, mark=noun.mark), replace(noun, mark=False)
    return ordered


def _segmented(text: str, words: Dictionary) -> list[_Part]:
    """Return the parts of a text without spaces: always the longest word of the dictionary that begins at a place."""
    parts: list[_Part] = []
    behind = 0
    for run in _RUN.finditer(text):
        mark = bool(text[behind : run.start()].strip())
        behind = run.end()
        if not _WIDE.match(run.group()):
            parts.append(_Part(run.start(), run.end(), run.group(), None, mark))
            continue
        for part in _cut(run.group().casefold(), run.start(), words):
            parts.append(replace(part, mark=mark) if not part.start - run.start() else part)
    return parts


def _plurals(parts: list[_Part]) -> list[_Part]:
    """Put nouns behind *which* and *how many* in the plural."""
    plural = False
    for at, part in enumerate(parts):
        if part.entry and part.entry.kind == "n" and plural and part.text == part.entry.word:
            parts[at] = replace(part, text=part.entry.plural)
        plural = part.text in _PLURAL_AFTER or (plural and (not part.text or (part.entry or _NO).kind == "a"))
    return parts


def _cut(run: str, start: int, words: Dictionary) -> list[_Part]:
    parts: list[_Part] = []
    at = unknown = 0
    while at < len(run):
        for length in range(min(words.longest, len(run) - at), 0, -1):
            entry = words.phrases.get(tuple(run[at : at + length]))
            if entry is not None:
                if unknown < at:
                    parts.append(_Part(start + unknown, start + at, run[unknown:at], None))
                parts.append(_Part(start + at, start + at + length, entry.word, entry))
                at += length
                unknown = at
                break
        else:
            at += 1
    if unknown < at:
        parts.append(_Part(start + unknown, start + at, run[unknown:at], None))
    return parts


def _unwrapped(parts: list[_Part], words: Dictionary) -> list[_Part]:
    """Put what two words around a thing mean before it, and leave out the second: 与帕金森病有关."""
    if not words.around:
        return parts
    openers: dict[str, dict[str, str]] = {}
    for (first, second), meaning in words.around.items():
        openers.setdefault(_meaning(words, first), {})[_meaning(words, second)] = meaning
    ordered = list(parts)
    for at, part in enumerate(ordered):
        closing = openers.get(part.text) if part.entry else None
        if not closing:
            continue
        for place in range(at + 1, min(len(ordered), at + _WITHIN)):
            if ordered[place].mark:
                break
            if ordered[place].entry and ordered[place].text in closing:
                ordered[at] = replace(part, text=closing[ordered[place].text])
                ordered[place] = replace(ordered[place], text="")
                break
    return ordered


def _meaning(words: Dictionary, said: str) -> str:
    entry = words.phrases.get(tuple(said))
    return entry.word if entry else said


def _particles_first(parts: list[_Part]) -> list[_Part]:
    """Put particles before the word that they follow: 日本で → `in Japan`."""
    ordered: list[_Part] = []
    for part in parts:
        if part.entry and part.entry.kind == "p" and part.text and ordered and not part.mark:
            ordered.insert(len(ordered) - 1, part)
        else:
            ordered.append(part)
    return ordered


def _gaps(text: str, parts: Sequence[_Part]) -> list[str]:
    """Return what stands before each part, and behind the last: marks stay at their places when words move."""
    ends = [0, *(part.end for part in parts)]
    starts = [*(part.start for part in parts), len(text)]
    gaps = [_DROPPED_SIGNS.sub("", text[end:start]).translate(_SIGNS) for end, start in zip(ends, starts, strict=True)]
    return [" " if gap and not gap.strip("'’ ") else gap for gap in gaps]


def _written(text: str, parts: Sequence[_Part], gaps: Sequence[str], source: str, into: str) -> Gloss:
    """Return the gloss: the parts with spaces between them and the marks of the question."""
    written: list[str] = []
    pieces: list[Piece] = []
    length = 0
    for part, gap in zip(parts, gaps, strict=False):
        before = gap
        if not gap.strip():
            before = " " if length and part.text else ""
        elif source in WITHOUT_SPACES and part.text and gap[-1] not in ' ("-':
            before = f"{gap} "
        start = length + len(before)
        written += [before, part.text]
        length = start + len(part.text)
        pieces.append(Piece(start, length, (part.start, part.end), part.entry is not None))
    written.append(gaps[-1].rstrip())
    return Gloss("".join(written), text, source, into, True, tuple(pieces))
