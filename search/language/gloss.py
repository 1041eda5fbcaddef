"""A question in another language, read word by word in the language of the knowledge base.

gloss("Quels médicaments traitent la polyarthrite ?", "fr", "en").text → "which drugs treat the polyarthrite ?"

A gloss is no translation. Words that the dictionary does not have stay as they are; names of nodes among them are found
by their spelling or by vectors. Word order changes only for adjectives behind their noun (French, Spanish, Italian,
Portuguese), for words behind what they govern (Japanese), and for words around it (Chinese).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from search.language.glossing.dictionary import ASKING, WITHOUT_SPACES, Dictionary, DictionaryEntry, dictionary
from search.language.glossing.parts import GlossPart, by_words, segmented
from search.language.glossing.wanted import Wanted
from search.language.languages import forms, language, split

Span = tuple[int, int]
"""Start and end of a stretch of a text; the end is not included."""
MOST_CHARACTERS_READ = 10_000
_NOUN_FIRST = frozenset(("fr", "es", "it", "pt"))
_SIGNS = str.maketrans("？！。，、；：（）「」『』・", '?!.,,;:()"""" ')
_DROPPED_SIGNS = re.compile(r"[¿¡]")
_PLURAL_AFTER = frozenset(("which", "how many", "number of", "all", "many"))
_MORE = {"more": "most", "less": "least", "the most": "most", "the least": "least"}
_MOST = frozenset(("the most", "the least"))
_CLAUSE = frozenset(("that", "which", "who", "what"))
"""Words that may stand for *than*, where a language has one word for both."""
_NEAR = 3
"""Number of words before *more* among which the article of a superlative stands."""
_THREE = 3
"""Number of degrees of an adjective."""
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
class GlossedQuestion:
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


_NO = DictionaryEntry("", "", "")


def gloss(text: str, source: str, into: str, wanted: Wanted | None = None) -> GlossedQuestion:
    """Return a question in the language `source` read in the language `into`.

    Words in quotes and names with capitals stay as they are. Of several meanings of a word that is `wanted` which is a
    word of the knowledge base's schema, or a name in it. A text longer than `MOST_CHARACTERS_READ` is cut.
    """
    source, into = (code.lower().replace("_", "-").split("-")[0] for code in (source, into))
    words = dictionary(source, into)
    text = text[:MOST_CHARACTERS_READ]
    if source == into or words is None:
        return GlossedQuestion(text, text, source, into, read=source == into)
    if source in WITHOUT_SPACES:
        apart = segmented(text, words)
    else:
        apart = by_words(text, words, source, into, wanted or Wanted())
    parts = _plurals(apart)
    if into == "en":
        parts = _bare_numbers(_asked(parts))
    if source in _NOUN_FIRST and into == "en":
        parts = _superlatives(parts)
    gaps = _gaps(text, parts)
    if source in _NOUN_FIRST:
        parts = _adjectives_first(parts)
    if source in WITHOUT_SPACES:
        parts = _particles_first(_unwrapped(parts, words))
    return _written(text, parts, gaps, source, into)


def _asked(parts: list[GlossPart]) -> list[GlossPart]:
    """Put *there are* behind what is asked for as English does: *welche Lampen gibt es* → `which lamps are there`."""
    if not parts or parts[0].text not in _PLURAL_AFTER:
        return parts
    return [replace(part, text="are there") if part.text == "there are" else part for part in parts]


def _bare_numbers(parts: list[GlossPart]) -> list[GlossPart]:
    """Leave out articles before numbers: Italian *dopo il 2022*."""
    read = list(parts)
    for at, (part, behind) in enumerate(pairwise(parts)):
        if part.text == "the" and behind.text.isdigit() and not behind.mark:
            read[at] = replace(part, text="")
    return read


def _superlatives(parts: list[GlossPart]) -> list[GlossPart]:
    """Put English superlatives for *more* and *the most* with an adjective: *il fiume più lungo* → `the longest river`.

    What is compared stays a comparison: *più lungo di*, *un fiume più lungo*. *More* before a noun asks for the most:
    *quale fiume attraversa più stati*.
    """
    read: list[GlossPart] = []
    compared = any(part.text == "than" for part in parts)
    asked = bool(parts) and parts[0].text in ASKING
    for at, part in enumerate(parts):
        before = [one.text for one in parts[max(0, at - _NEAR) : at]]
        last = before[-1] if before and not part.mark else ""
        behind = parts[at + 1] if at + 1 < len(parts) and not parts[at + 1].mark else None
        kind = part.entry.kind if part.entry is not None else ""
        if last in _MORE and kind == "a" and (last in _MOST or "the" in before or _alone(before, behind, compared)):
            more = read.pop()
            plain = f"{_MORE[last]} {part.text}"
            written = _degrees().get(part.text, plain) if _MORE[last] == "most" else plain
            part = replace(part, start=more.start, text=written, mark=more.mark)
            read.append(_without_article(read, part))
        elif last == "the" and part.text in _comparatives():
            read.append(_without_article(read, replace(part, text=_comparatives()[part.text])))
        elif part.text in ("more", "less") and asked and not compared and behind and (behind.entry or _NO).kind == "n":
            read.append(replace(part, text=f"the {_MORE[part.text]}"))
        else:
            read.append(part)
    return read


def _without_article(read: list[GlossPart], part: GlossPart) -> GlossPart:
    """Return a superlative, and take away the article that repeats that of its noun: *la tente la moins chère*."""
    if len(read) > 1 and read[-1].text == "the" and not read[-1].mark and (read[-2].entry or _NO).kind == "n":
        return replace(part, start=read.pop().start)
    return part


def _alone(before: Sequence[str], behind: GlossPart | None, compared: bool) -> bool:
    """Whether *more* with an adjective compares with nothing: *ciudad más grande de Cuba*."""
    return not compared and "a" not in before and (behind is None or behind.text not in _CLAUSE)


@lru_cache(maxsize=1)
def _degrees() -> dict[str, str]:
    """Return English adjectives with their superlatives: `long` → `longest`."""
    return {several[0]: several[2] for several in _adjectives()}


@lru_cache(maxsize=1)
def _comparatives() -> dict[str, str]:
    """Return English comparatives with their superlatives: `longer` → `longest`."""
    return {several[1]: several[2] for several in _adjectives()}


def _adjectives() -> Iterator[tuple[str, ...]]:
    for scale in language("en").value("scales", default=()):
        several = (forms(entry) for end in ("high", "low") for entry in split(scale.get(end, "")))
        yield from (one for one in several if len(one) == _THREE)


def _adjectives_first(parts: list[GlossPart]) -> list[GlossPart]:
    """Put adjectives before the noun that they follow: *enfermedades raras* → `rare diseases`."""
    ordered = list(parts)
    for at in range(len(ordered) - 1):
        noun, adjective = ordered[at], ordered[at + 1]
        kinds = (noun.entry or _NO).kind, (adjective.entry or _NO).kind
        if kinds == ("n", "a") and not adjective.mark:
            ordered[at], ordered[at + 1] = replace(adjective, mark=noun.mark), replace(noun, mark=False)
    return ordered


def _plurals(parts: list[GlossPart]) -> list[GlossPart]:
    """Put nouns behind *which* and *how many* in the plural."""
    plural = False
    for at, part in enumerate(parts):
        if part.entry and part.entry.kind == "n" and plural and part.text == part.entry.word:
            parts[at] = replace(part, text=part.entry.plural)
        plural = part.text in _PLURAL_AFTER or (plural and (not part.text or (part.entry or _NO).kind == "a"))
    return parts


def _unwrapped(parts: list[GlossPart], words: Dictionary) -> list[GlossPart]:
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


def _particles_first(parts: list[GlossPart]) -> list[GlossPart]:
    """Put particles before the word that they follow: 日本で → `in Japan`."""
    ordered: list[GlossPart] = []
    for part in parts:
        if part.entry and part.entry.kind == "p" and part.text and ordered and not part.mark:
            ordered.insert(len(ordered) - 1, part)
        else:
            ordered.append(part)
    return ordered


def _gaps(text: str, parts: Sequence[GlossPart]) -> list[str]:
    """Return what stands before each part, and behind the last: marks stay at their places when words move."""
    ends = [0, *(part.end for part in parts)]
    starts = [*(part.start for part in parts), len(text)]
    gaps = [_DROPPED_SIGNS.sub("", text[end:start]).translate(_SIGNS) for end, start in zip(ends, starts, strict=True)]
    return [" " if gap and not gap.strip("'’ ") else gap for gap in gaps]


def _written(text: str, parts: Sequence[GlossPart], gaps: Sequence[str], source: str, into: str) -> GlossedQuestion:
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
    return GlossedQuestion("".join(written), text, source, into, True, tuple(pieces))
