"""What dates and relative times select: nodes with a date, or a year, in the range that was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from search.domain.graph import Field
from search.domain.plan import Filter
from search.language.cues import DateRange, Span
from search.language.words import stem
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.denied import denied
from search.stages.plan.conditions.fields import FieldMeanings, naming
from search.stages.plan.measures import field_stems
from search.stages.plan.write import TARGET

_ONLY = 0.9
_ONE_OF = 0.5
"""Fit of the first field of dates where the words name none of several."""


def dates_of(core: Core, fields: FieldMeanings) -> Iterator[list[Condition]]:
    """Yield the possible meanings of each date of a question."""
    dated = fields.dated(core.kind)
    years = [one for one in [*fields.measured(core.kind), *dated] if fields.years(core.kind, one)]
    for cue in core.question.cues.dates:
        turned = next((one for one in core.question.turnings if one.scope[0] <= cue.start < one.scope[1]), None)
        asked = denied(cue, core.question) if turned else cue
        meanings = []
        for one in years:
            filters = _filters(asked, one) if asked is not None else []
            if not filters:
                continue
            partly = one.kind == "number" and not _whole_years(cue)
            months = list(_month(core, cue)) if partly and not turned and cue.op == "=" else []
            said = _years_alone(core, cue) if partly and not months else [(cue.start, cue.end)]
            spans = (*said, *naming(core, one), *([(turned.start, turned.end)] if turned else []))
            meanings.append(
                Condition(
                    (cue.start, cue.end),
                    _fit(cue, one, years),
                    filters=(*filters, *months),
                    spans=spans,
                    turning=turned is not None,
                )
            )
        yield sorted(meanings, key=lambda one: -one.score)[:2]


def _whole_years(cue: DateRange) -> bool:
    return (cue.first.month, cue.first.day, cue.last.month, cue.last.day) == (1, 1, 12, 31)


def _years_alone(core: Core, cue: DateRange) -> list[Span]:
    """Return what a field of years expresses of a date that is no whole years: *2020*, not *March*, of *March 2020*.

    The whole date where no year is written, as in *the last ten years*.
    """
    years = {str(cue.first.year), str(cue.last.year)}
    inside = core.question.said_in((cue.start, cue.end))
    written = [(word.start, word.start + len(word.text)) for word in inside if word.text in years]
    return written or [(cue.start, cue.end)]


def _month(core: Core, cue: DateRange) -> Iterator[Filter]:
    """Yield the month that a date is, where a field of the answers holds months as words: *volumes from May 2020*."""
    if (cue.first.year, cue.first.month) != (cue.last.year, cue.last.month):
        return
    for one in core.question.values:
        inside = cue.start <= one.start and one.end <= cue.end
        if inside and one.node_type == core.kind.name and isinstance(one.value, str) and not one.text.isdigit():
            yield Filter(TARGET, one.field, one.op, one.value)
            return


def _fit(cue: DateRange, one: Field, years: Sequence[Field]) -> float:
    if {stem(word) for word in cue.words} & field_stems(one):
        return 1.0
    return _ONLY if len(years) == 1 else _ONE_OF


def _filters(cue: DateRange, one: Field) -> list[Filter]:
    """Return the range as filters; dates are texts that sort by time, so a range ends before the next day begins.

    No filter says that a value lies outside a range.
    """
    if one.kind == "number":
        first, last = cue.first.year, cue.last.year
        # A part of a year says nothing about a field of years but the year.
        if cue.op in ("<", "<=", ">", ">="):
            return [Filter(TARGET, one.name, cue.op, first if cue.op in ("<", ">=") else last)]
        if first == last:
            return [Filter(TARGET, one.name, "!=" if cue.op == "!=" else "=", first)]
        return [] if cue.op == "!=" else [Filter(TARGET, one.name, "between", [first, last])]
    begins, after = cue.first.isoformat(), (cue.last + timedelta(days=1)).isoformat()
    since, before = Filter(TARGET, one.name, ">=", begins), Filter(TARGET, one.name, "<", after)
    return {
        "<": [Filter(TARGET, one.name, "<", begins)], "<=": [before],
        ">": [Filter(TARGET, one.name, ">=", after)], ">=": [since], "!=": [],
    }.get(cue.op, [since, before])  # fmt: skip
