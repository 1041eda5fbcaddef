"""Numbers and dates behind a turning word: *not after 2015*, *not edited since May*."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from search.domain.plan.parts import DENIED
from search.language.cues import DateRange
from search.language.languages import language
from search.language.quantities import Quantity
from search.language.question import AnalysedQuestion
from search.language.words import words

Compared = TypeVar("Compared", Quantity, DateRange)


def is_turned(cue: Quantity | DateRange, question: AnalysedQuestion) -> bool:
    """Whether a number or date of a question stands in the scope of a turning word."""
    return any(one.scope[0] <= cue.start < one.scope[1] for one in question.turnings)


def denied(cue: Compared, question: AnalysedQuestion) -> Compared | None:
    """Return a number or date of a question with the opposite comparison; None for a range, which has no opposite.

    What was *not edited since May* may have been edited in May.
    """
    since = language(question.cues.language).set("turning", "since")
    dated = isinstance(cue, DateRange) or cue.year
    if dated and cue.op == ">=" and not since.isdisjoint(words(question.text[cue.start : cue.end])):
        return replace(cue, op="<=")
    op = DENIED.get(cue.op)
    return None if op is None else replace(cue, op=op)
