"""Words before a number or date that name the field which it limits: `knives released before 2019`."""

from __future__ import annotations

from search.domain.graph import Schema
from search.language.cues import Span
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
    named = knowledge.kept(field_words, lambda: field_words(knowledge.schema))
    found = []
    for start in starts:
        before = next((one for one in reversed(question.said) if one.start < start and one.content), None)
        if before is not None and stem(before.text) in named and not knowledge.lexicon.says(before.text):
            found.append((before.start, before.start + len(before.text)))
    return found


def field_words(schema: Schema) -> frozenset[str]:
    """Return the stems of the names of one word that fields of numbers and dates have."""
    names = [words(one.name).split() for kind in schema.node_types for one in kind.fields
             if one.kind in ("number", "date")]  # fmt: skip
    return frozenset(stem(name[0]) for name in names if len(name) == 1)
