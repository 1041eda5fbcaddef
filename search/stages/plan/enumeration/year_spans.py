"""Spans of years where years are nodes: *since 2000*, *the 90s*, *before 1960* are names of every year within them.

Then walks, joins and exclusions need to know nothing of spans, for a name may have several nodes anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date

from search.interfaces import Mention, MentionIndex, NodeStore
from search.language.cues import DateRange
from search.language.names import Named
from search.language.quantities import FIRST_YEAR, LAST_YEAR, Quantity
from search.language.question import AnalysedQuestion
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.years import YearFields

_MOST = 0.9
"""Least share of the nodes of a type whose names are years, for it to be a type of years."""


def year_spans(
    question: AnalysedQuestion, knowledge: Knowledge, mentions: MentionIndex, nodes: NodeStore
) -> AnalysedQuestion:
    """Return the question with a name for each span of years, in place of its number or date and of names inside it.

    Only where years are nodes, and neither they nor what they are joined to has years in fields. A span without any
    year in the data stays a number.
    """
    cues = question.cues
    said: list[Quantity | DateRange] = [*cues.quantities, *cues.dates]
    spans = {cue: span for cue in said if (span := _years(cue)) is not None}
    if not spans:
        return question
    known = knowledge.kept(year_spans, lambda: _year_nodes(knowledge, mentions, nodes))
    named = {cue: name for cue, span in spans.items() if (name := _name(question, cue, span, known)) is not None}
    if not named:
        return question
    cues = replace(
        cues,
        quantities=type(cues.quantities)(one for one in cues.quantities if one not in named),
        dates=type(cues.dates)(one for one in cues.dates if one not in named),
    )
    kept = [one for one in question.names if not any(one.overlaps(name) for name in named.values())]
    names = sorted([*kept, *named.values()], key=lambda one: (one.mention.start, -one.mention.end))
    values = [one for one in question.values if not any(cue.start < one.end and one.start < cue.end for cue in named)]
    return replace(question, names=names, cues=cues, values=values)


def _years(cue: Quantity | DateRange) -> tuple[float, float] | None:
    """Return the first and last year that a number or date means; None for a single year and for parts of years."""
    if isinstance(cue, Quantity):
        if not cue.year or cue.op not in ("<", "<=", ">", ">=", "between"):
            return None
        low, high = cue.low, cue.high
    else:
        if (cue.first.month, cue.first.day) != (1, 1) or cue.last != date(cue.last.year, 12, 31):
            return None
        low, high = cue.first.year, cue.last.year
        if cue.op == "=" and low == high:
            return None
    ends: dict[str, tuple[float, float]] = {
        "<": (FIRST_YEAR, low - 1), "<=": (FIRST_YEAR, high), ">": (high + 1, LAST_YEAR), ">=": (low, LAST_YEAR),
        "=": (low, high), "between": (low, high),
    }  # fmt: skip
    return ends.get(cue.op)


def _name(
    question: AnalysedQuestion, cue: Quantity | DateRange, span: tuple[float, float], known: Mapping[int, int]
) -> Named | None:
    keys = tuple(key for year, key in known.items() if span[0] <= year <= span[1])
    if not keys:
        return None
    # *Not from the 1950s*: the preposition belongs to the turning word.
    turned = (one.end for one in question.cues.turnings if one.start < cue.start < one.end < cue.end)
    start = max(turned, default=cue.start)
    start += len(question.text[start : cue.end]) - len(question.text[start : cue.end].lstrip())
    mention = Mention(start, cue.end, question.text[start : cue.end], keys, (True,) * len(keys))
    # The years of a span are as sure as a year is that the question spells as it is stored with its digits.
    return Named(mention, 1, quoted=False, capitalised=True, exact=True, ordinary=False, any_of=True)


def _year_nodes(knowledge: Knowledge, mentions: MentionIndex, nodes: NodeStore) -> dict[int, int]:
    """Return the node of each year, if some type has hardly any other nodes and spans cannot be said by a field."""
    found: dict[int, dict[int, int]] = {}
    for year in range(FIRST_YEAR, LAST_YEAR + 1):
        keys = list(mentions.lookup(str(year)))
        for key, code in zip(keys, nodes.types(keys).tolist() if keys else (), strict=True):
            found.setdefault(code, {}).setdefault(year, key)
    years = YearFields(nodes)
    for code, known in found.items():
        types = knowledge.schema.node_types
        if len(known) < _MOST * types[code].count:
            continue
        beside = {code, *_joined(knowledge, code)}
        if not any(years(types[other], one) for other in beside for one in types[other].fields if one.coverage):
            return known
    return {}


def _joined(knowledge: Knowledge, code: int) -> Iterator[int]:
    """Yield the codes of the types that some relation joins with a type."""
    for relation in range(len(knowledge.schema.relations)):
        yield from knowledge.shape.far_ends(code, relation, "out")
        yield from knowledge.shape.far_ends(code, relation, "in")
