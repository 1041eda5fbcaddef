"""Quantities of a question → filters on the fields of what a plan finds (GRASP plans with typed conditions)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from search.domain.graph import Field, NodeType, Schema
from search.domain.plan import Filter, Operator
from search.language.quantities import UNITS, Quantity
from search.language.question import AnalysedQuestion
from search.language.words import stem, stems
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.measures import (
    bare_fields,
    field_stems,
    is_against,
    is_money,
    is_price,
    scaled_field,
    unit_in,
    verb_says,
)
from search.stages.plan.write import TARGET
from search.stages.plan.years import YearFields
from search.text import words

_SAID_OF: tuple[tuple[str, str], ...] = (
    ("cheap cheaper cost costs costing pay paying budget spend pricier dearer afford", "price cost fee"),
    ("heavy heavier light lighter weigh weighs weighing", "weight mass"),
    ("star stars rate rated rates score scored", "rating score stars"),
    ("publish published appeared written", "year date published"),
    ("release released launched introduced", "released year date"),
    ("founded established started", "founded established"),
    ("last lasts lasting", "duration"),
)
"""Words that people use, and the words with which schemas name the field they mean."""
_PRICE_MEANT, _NUMBER_MEANT = 0.9, 0.6
"""How surely a number of which nothing is said is a price, and the number of a field that is none."""
_MEANT = {stem(said): stems(meant) for several, meant in _SAID_OF for said in several.split()}
_AGAINST: dict[Operator, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""What a comparison says of a field that measures the opposite of its scale: *faster than 30* of a duration."""
_WORD = re.compile(r"[^\W\d_]+")


FilterOutcome = Literal["some", "none", "cut"]
"""Whether any node that a plan finds passes the filters; `cut`: the engine stopped at its bounds and had found none."""
FilterProbe = Callable[[tuple[Filter, ...]], FilterOutcome]


@dataclass(frozen=True)
class Limits:
    """The filters of a question for the nodes that a plan finds, and the spans of the question that they express.

    `notes` are sentences about quantities that did not become filters, and about filters whose unit is not confirmed.
    `share` is the part of the probability that these fields are meant and no others, `fit` how surely the least sure
    field is meant, both in [0, 1]. `whole` are the filters of all quantities, if some of them fit no node; there
    `unmet` is true.
    """

    filters: tuple[Filter, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()
    share: float = 1.0
    fit: float = 1.0
    whole: Limits | None = None
    unmet: bool = False

    @property
    def each(self) -> tuple[Limits, ...]:
        """These filters, and those of all quantities if some of them fit no node."""
        return (self,) if self.whole is None else (self, self.whole)


@dataclass(frozen=True)
class Limiter:
    """Finds the field that a quantity limits: by its name, by its unit, or because no other field holds years."""

    schema: Schema
    years: YearFields

    def of(
        self, question: AnalysedQuestion, quantities: Sequence[Quantity], candidate: PlanCandidate, fits: FilterProbe
    ) -> list[Limits]:
        """Return the filters for a candidate plan; `fits` says whether any node that the plan finds passes filters.

        There are several where a number may limit one of several fields, always at least one. A filter that no node
        passes is left out. A number inside a name that the plan starts from is not a quantity.
        """
        named = [question.names[at].mention for at in candidate.mentions]
        roles = zip(question.names, question.roles, strict=True)
        named += [name.mention for name, role in roles if role not in ("start", "number")]
        free = [q for q in quantities if not any(q.start < name.end and name.start < q.end for name in named)]
        kind = self.schema.node_types[candidate.types[0]]
        several = [_meant(question.text, quantity, kind, self.schema, self.years) for quantity in free]
        first = [meanings[0] for meanings in several]
        others = [
            [*first[:at], other, *first[at + 1 :]] for at, meanings in enumerate(several) for other in meanings[1:]
        ]
        return [self._limits(question.text, meant, fits) for meant in [first, *others]]

    def _limits(self, text: str, meant: Sequence[_Meant], fits: FilterProbe) -> Limits:
        read = [one for one in meant if one.filters]
        notes = [one.note for one in meant if one.note]
        if not read:
            return Limits(notes=tuple(notes))
        kept, unmet = _kept(read, fits)
        limits = _all_of(text, kept, (*notes, *unmet))
        return replace(limits, whole=replace(_all_of(text, read, ()), unmet=True)) if unmet else limits


@dataclass(frozen=True)
class _Meant:
    """A quantity, its words in the question, the field that it limits (None if unclear), and a note for people.

    `share` and `fit` are as in `Limits`.
    """

    quantity: Quantity
    said: str
    field: Field | None = None
    note: str = ""
    share: float = 1.0
    fit: float = 1.0

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The quantity as conditions on its field."""
        return tuple(_filters(self.quantity, self.field)) if self.field is not None else ()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans (start, end) of the question that the filters express."""
        yield self.quantity.start, self.quantity.end
        if self.field is not None:
            yield from _naming(text, self.field)


def _meant(text: str, quantity: Quantity, kind: NodeType, schema: Schema, is_year: YearFields) -> list[_Meant]:
    """Return the fields of a node type that a quantity may limit, at least one entry, with a note if one is needed."""
    fields = _measured(kind)
    dated = [one for one in kind.fields if one.kind == "keyword"]
    years = [one for one in [*fields, *dated] if is_year(kind, one)] if quantity.year else []
    others = [one for other in schema.node_types for one in _measured(other) if one not in fields]
    said = text[quantity.start : quantity.end].strip()
    if quantity.year:
        return [_Meant(quantity, said, _year_field(quantity, years, others))]
    if quantity.op == "=":
        return [_Meant(quantity, said)]
    amounts = [one for one in fields if one.kind == "number" and not is_year(kind, one)]
    if quantity.dimension == "money":
        return [_of_money(quantity, said, amounts)]
    if (field := _amount_field(quantity, amounts)) is not None:
        return [_Meant(quantity, said, field)]
    if _called(quantity, others) is not None:
        return [_Meant(quantity, said)]
    bare = bare_fields(quantity, kind, amounts, is_year)
    share = 1.0 / max(1, len(bare))
    fit = [_PRICE_MEANT if is_price(one) else _NUMBER_MEANT for one in bare]
    return [_Meant(quantity, said, one, "", share, each) for one, each in zip(bare, fit, strict=True)] or [
        _Meant(quantity, said)
    ]


def meant_of(text: str, quantity: Quantity, kind: NodeType, schema: Schema, is_year: YearFields) -> tuple[Filter, ...]:
    """Return a quantity as filters on the target, if it limits a clear field of that node type."""
    return _meant(text, quantity, kind, schema, is_year)[0].filters


def naming_of(
    text: str, quantity: Quantity, kind: NodeType, schema: Schema, is_year: YearFields
) -> tuple[tuple[int, int], ...]:
    """Return the spans of the question that the filters of `meant_of` express."""
    return tuple(_meant(text, quantity, kind, schema, is_year)[0].spans(text))


def _kept(read: Sequence[_Meant], fits: FilterProbe) -> tuple[Sequence[_Meant], list[str]]:
    """Return the quantities whose filters some node passes together, and a sentence for each of the others."""
    fit = fits(_together(read))
    if fit == "some" or len(read) == 1:
        return (read, []) if fit == "some" else ([], [_unmet(read[0], [], fit)])
    kept: list[_Meant] = []
    notes: list[str] = []
    for one in read:
        if (fit := fits(_together([*kept, one]))) == "some":
            kept.append(one)
        else:
            notes.append(_unmet(one, kept, fit))
    return kept, notes


def _all_of(text: str, several: Sequence[_Meant], notes: tuple[str, ...]) -> Limits:
    spans = tuple(span for one in several for span in one.spans(text))
    share, fit = math.prod(one.share for one in several), min((one.fit for one in several), default=1.0)
    return Limits(_together(several), spans, notes, share, fit)


def _together(several: Sequence[_Meant]) -> tuple[Filter, ...]:
    return tuple(condition for one in several for condition in one.filters)


def _unmet(one: _Meant, kept: Sequence[_Meant], fit: FilterOutcome) -> str:
    """Return a sentence why a quantity is not a filter beside the quantities `kept`."""
    said = f"“{one.said}” ({words(one.field.name) if one.field else ''})"
    beside = f" beside {' and '.join(f'“{other.said}”' for other in kept)}" if kept else ""
    if fit == "cut":
        open_question = f"Whether {said} fits anything that the best plan finds{beside} is not known"
        return f"{open_question}, because the engine stopped at its bounds; it counts as text."
    return f"{said} fits nothing that the best plan finds{beside}; it counts as text."


def _measured(kind: NodeType) -> list[Field]:
    """Return the fields of a type that hold numbers or dates."""
    return [field for field in kind.fields if field.kind in ("number", "date")]


def _year_field(quantity: Quantity, years: Sequence[Field], others: Sequence[Field]) -> Field | None:
    """Return the field of years that a year limits, or None where that is not clear.

    It is the field that the words beside the year name, else the only field of years. When these words name a field of
    another type (`others`), the only field is not taken.
    """
    only = years[0] if len(years) == 1 and not _called(quantity, others) else None
    return _called(quantity, years) or only


def _amount_field(quantity: Quantity, amounts: Sequence[Field]) -> Field | None:
    """Return the field that an amount limits, by a unit that converts to the field's, its words or its scale."""
    if quantity.dimension is None:
        return _called(quantity, amounts) or scaled_field(quantity, amounts)
    alike = [one for one in amounts if (unit := unit_in(one)) and UNITS[quantity.unit].converts_to(UNITS[unit])]
    return alike[0] if len(alike) == 1 else _called(quantity, alike)


def _of_money(quantity: Quantity, said: str, amounts: Sequence[Field]) -> _Meant:
    """Return the price field that an amount of money limits: one in its currency, else one that names no currency."""
    prices = [one for one in amounts if is_price(one)]
    if (field := _amount_field(quantity, prices)) is not None:
        return _Meant(quantity, said, field)
    unnamed = [one for one in prices if not is_money(unit_in(one))]
    field = unnamed[0] if len(unnamed) == 1 else _called(quantity, unnamed)
    if field is not None:
        return _Meant(quantity, said, field, f"“{said}” is held against {words(field.name)}, which names no currency.")
    named = ", ".join(words(one.name) for one in prices)
    note = f"“{said}” is in another currency than {named}; it counts as text." if prices else ""
    return _Meant(quantity, said, note=note)


def _called(quantity: Quantity, fields: Sequence[Field]) -> Field | None:
    """Return the field that a word beside the number names, the nearest word first, or None."""
    for word in map(stem, quantity.words):
        for one in fields:
            if _names(word, one):
                return one
    return None


def _naming(text: str, field: Field) -> Iterator[tuple[int, int]]:
    """Yield the spans (start, end) of the words in a question that only name the field, such as `cost` and `weighs`."""
    for match in _WORD.finditer(text):
        said = match.group().lower()
        if _names(stem(said), field) or verb_says(said, field):
            yield match.span()


def _names(word: str, field: Field) -> bool:
    """Return whether the stem of a word names a field."""
    return word in field_stems(field) or bool(_MEANT.get(word, frozenset()) & field_stems(field))


def _filters(quantity: Quantity, field: Field) -> list[Filter]:
    """Return the quantity as conditions on the field, in the field's unit."""
    if field.kind != "number":
        return _of_dates(quantity, field)
    op = _AGAINST.get(quantity.op, quantity.op) if is_against(field, quantity.scale, quantity.against) else quantity.op
    unit = unit_in(field)
    # A number without a unit is assumed to have the field's unit.
    factor = UNITS[quantity.unit].factor / UNITS[unit].factor if unit and quantity.unit in UNITS else 1.0
    low, high = (_number(end * factor) for end in (quantity.low, quantity.high))
    return [Filter(TARGET, field.name, op, [low, high] if op == "between" else low)]


def _of_dates(quantity: Quantity, field: Field) -> list[Filter]:
    """Return a year as conditions on a field of dates.

    Dates are texts that sort by time, so the year 2004 is `>= 2004` and `< 2005`. No filter says any other year.
    """
    first, after = f"{int(quantity.low):04}", f"{int(quantity.high) + 1:04}"
    since, before = Filter(TARGET, field.name, ">=", first), Filter(TARGET, field.name, "<", after)
    return {
        "<": [replace(before, value=first)], "<=": [before], ">": [replace(since, value=after)], ">=": [since],
        "!=": [],
    }.get(quantity.op, [since, before])  # fmt: skip


def _number(value: float) -> int | float:
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
