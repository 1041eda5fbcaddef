"""Words that name a field beside a number: `knives released before 2019`, `how many pages has X`."""

from __future__ import annotations

from dataclasses import replace

from search.language.cues import FieldAsked, Span
from search.language.question import AnalysedQuestion
from search.language.words import stem
from search.stages.plan.knowledge import Knowledge
from search.text import words


def fielded(question: AnalysedQuestion, knowledge: Knowledge) -> list[Span]:
    """Return the spans of the content words next before a number or date that are the whole name of a field.

    Such a word says no relation and no type, unless it does so by its letters.
    """
    starts = [one.start for one in question.cues.quantities if one.op != "=" or one.year]
    starts += [one.start for one in question.cues.dates]
    if not starts:
        return []
    named = _field_words(knowledge)
    found = []
    for start in starts:
        before = next((one for one in reversed(question.said) if one.start < start and one.content), None)
        if before is not None and stem(before.text) in named and not knowledge.lexicon.says(before.text):
            found.append((before.start, before.start + len(before.text)))
    return found


def asked_number(question: AnalysedQuestion, knowledge: Knowledge) -> AnalysedQuestion:
    """Return the question as one for a field, if it asks how many there are of what a field of numbers is called.

    *How many pages has X* asks for its number of pages, which no count of nodes is.
    """
    asking = question.cues.asking
    if asking is None or asking.ask != "how many":
        return question
    behind = next((one for one in question.said if one.start >= asking.end), None)
    named = _field_words(knowledge)
    if behind is None or stem(behind.text) not in named or knowledge.lexicon.says(behind.text):
        return question
    spans = (asking.start, asking.end), (behind.start, behind.start + len(behind.text))
    return replace(question, cues=replace(question.cues, asking=None, field=FieldAsked(spans, (behind.text,))))


def _field_words(knowledge: Knowledge) -> frozenset[str]:
    """Return the stems of the names of one word that fields of numbers and dates have."""

    def found() -> frozenset[str]:
        names = [words(one.name).split() for kind in knowledge.schema.node_types for one in kind.fields
                 if one.kind in ("number", "date")]  # fmt: skip
        return frozenset(stem(name[0]) for name in names if len(name) == 1)

    return knowledge.kept(_field_words, found)
