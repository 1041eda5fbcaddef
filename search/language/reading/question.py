"""A question as the planner reads it: its text in the base's language, with the cues of the words that were asked."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar

from search.language.cues import Asking, Comparison, ConditionWord, Cues, DateRange, Span, Superlative, Turning
from search.language.detection import language_of
from search.language.gloss import MOST_CHARACTERS_READ, Gloss, gloss
from search.language.glossing.wanted import Wanted
from search.language.languages import language
from search.language.mending import mended
from search.language.quantities import Quantity
from search.language.reading import read_cues
from search.language.units import UNITS
from search.language.words import language_code

_Around = TypeVar("_Around", DateRange, Quantity)
_Placed = TypeVar("_Placed", Turning, Superlative, Comparison, DateRange, Quantity, Asking, ConditionWord)


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question, the text that everything after reads, and its cues (all offsets are offsets into `text`).

    `gloss` knows the original and the way back (`gloss.origin(start, end)`). `notes` are sentences for people about
    what could not be read.
    """

    text: str
    gloss: Gloss
    cues: Cues
    notes: tuple[str, ...] = ()

    @property
    def language(self) -> str:
        """Code of the language that the question is in."""
        return self.gloss.language


def read_question(
    text: str,
    base_language: str,
    today: date | None = None,
    schema: Collection[str] = frozenset(),
    known: Callable[[str], bool] = lambda word: False,
    named: Callable[[str], bool] = lambda said: False,
) -> ReadQuestion:
    """Return a question read in the language of a knowledge base.

    In a question in that language misspelt words of asking are mended, and those of `schema`, the words of the
    knowledge base's schema; words for which `known` is true are names or stand in texts and stay as they are. In
    another language a word of several meanings has the one that is a word of `schema`, else one that is `known`; words
    for which `named` is true are a name and stay as they are.

    Cues come from the question's own words where its language has a data file, else from the gloss. Without a
    dictionary the text stays as it is and `cues.whole` is False.
    """
    asked = language_of(text, base_language)
    lang = language(asked)
    if lang.whole and asked == language_code(base_language):
        meant = mended(text[:MOST_CHARACTERS_READ], asked, schema, known)
        return ReadQuestion(meant.text, meant, read_cues(meant.text, asked, today))
    wanted = Wanted(schema, named, known)
    read = gloss(text, asked, base_language, wanted)
    if lang.whole:
        cues = _placed(read_cues(read.original, asked, today), read, wanted)
        return ReadQuestion(read.text, read, cues)
    notes = (f"Questions in this language ({asked}) are read word by word; conditions may be missed.",)
    if read.read and language(base_language).whole:
        cues = replace(read_cues(read.text, base_language, today), language=asked, whole=False)
        return ReadQuestion(read.text, read, cues, notes)
    notes = (f"Of questions in this language ({asked}) only names and numbers are read.",)
    return ReadQuestion(read.text, read, read_cues(read.text, asked, today), notes)


def _placed(cues: Cues, read: Gloss, wanted: Wanted) -> Cues:
    """Return cues with the offsets of the gloss instead of those of the question."""
    if not read.changed:
        return cues

    def said(word: str) -> str:
        return gloss(word, read.language, read.into, wanted).text.lower()

    def unit(written: str) -> str:
        return written if written in UNITS else said(written)

    def around(cue: _Around) -> _Around:
        return replace(at(cue), words=tuple(dict.fromkeys(map(said, cue.words))))

    def at(cue: _Placed) -> _Placed:
        start, end = read.place(cue.start, cue.end)
        return replace(cue, start=start, end=end)

    def span(stretch: Span) -> Span:
        return read.place(*stretch)

    asked = read.original.lower()

    def names(scale: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of a property; the question may name it in its own words."""
        return tuple(said(name) if name in asked else name for name in scale)

    turnings = [replace(at(turning), scope=span(turning.scope)) for turning in cues.turnings]
    superlatives = [
        replace(at(one), word=said(one.word), counted=one.counted and span(one.counted), scale=names(one.scale))
        for one in cues.superlatives
    ]
    comparisons = [replace(at(cue), word=said(cue.word), reference=span(cue.reference)) for cue in cues.comparisons]
    return replace(
        cues,
        turnings=tuple(turnings),
        superlatives=tuple(superlatives),
        comparisons=tuple(comparisons),
        quantities=tuple(replace(around(cue), unit=unit(cue.unit)) for cue in cues.quantities),
        dates=tuple(map(around, cues.dates)),
        asking=at(cues.asking) if cues.asking else None,
        field=replace(cues.field, spans=tuple(map(span, cues.field.spans))) if cues.field else None,
        conditions=tuple(map(at, cues.conditions)),
    )
