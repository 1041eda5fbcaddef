"""Quantities of a question → filters on the fields of what a plan finds (GRASP plans with typed conditions)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from search.domain.filtering import meets
from search.domain.graph import Field, FieldValue, Node, NodeType, Schema
from search.domain.plan import Filter
from search.interfaces import Keys, NodeStore
from search.language.quantities import FIRST_YEAR, LAST_YEAR, UNITS, Quantity
from search.language.question import Question
from search.language.words import stem, stems
from search.stages.plan.enumeration.enumerate import Candidate
from search.stages.plan.write import TARGET
from search.text import words

MOST_NODES = 500
"""So many of the nodes that a plan finds are looked at."""
_YEARS = 0.9
"""A field holds years when this share of its values can be years."""
_SAID_OF: tuple[tuple[str, str], ...] = (
    ("cheap cheaper cost costs costing pay paying budget spend pricier dearer afford", "price cost fee"),
    ("heavy heavier light lighter weigh weighs weighing", "weight mass"),
    ("star stars rate rated rates score scored", "rating score stars"),
    ("publish published appeared written", "year date published"),
    ("release released launched introduced", "released year date"),
    ("founded established started", "founded established"),
    ("last lasts lasting", "duration"),
)
"""What people say, and the words by which schemas name the field that they mean."""
_MEANT = {stem(said): stems(meant) for several, meant in _SAID_OF for said in several.split()}
_PRICES = stems("price cost fee")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Limits:
    """The filters that a question puts on what a plan finds, and the stretches of the question that they say.

    `unmet` says in sentences which quantities would leave nothing, and are no filters for that reason.
    """

    filters: tuple[Filter, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    unmet: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limiter:
    """Finds the field that a quantity limits, by its name, by its unit, or as the only one that holds years."""

    nodes: NodeStore
    schema: Schema

    def of(self, question: Question, quantities: Sequence[Quantity], candidate: Candidate, keys: Keys) -> Limits:
        """Return the filters for a plan that finds these nodes; a filter that would leave none of them is none.

        A number that is part of a name that the plan starts from is no quantity for it.
        """
        named = [question.names[at].mention for at in candidate.mentions]
        free = [q for q in quantities if not any(q.start < name.end and name.start < q.end for name in named)]
        fields = _measured(self.schema.node_types[candidate.types[0]])
        if not free or not fields:
            return Limits()
        others = [f for kind in self.schema.node_types for f in _measured(kind) if f not in fields]
        left = self.nodes.nodes(keys[:MOST_NODES].tolist())
        filters: list[Filter] = []
        spans: list[tuple[int, int]] = []
        unmet: list[str] = []
        years = [field for field in fields if _holds_years(field, left)]
        for quantity in free:
            field = _field_of(quantity, fields, years, others)
            if field is None:
                continue
            limits = _filters(quantity, field)
            kept = [node for node in left if meets(node, limits)]
            if kept:
                left = kept
                filters += limits
                spans += [(quantity.start, quantity.end), *_naming(question.text, field)]
            else:
                said = question.text[quantity.start : quantity.end].strip()
                unmet.append(
                    f"“{said}” ({words(field.name)}) fits nothing that the best plan finds; it counts as text."
                )
        return Limits(tuple(filters), tuple(spans), tuple(unmet))


def _measured(kind: NodeType) -> list[Field]:
    """Return the numbers and dates among the fields of a type."""
    return [field for field in kind.fields if field.kind in ("number", "date")]


def _holds_years(field: Field, nodes: Sequence[Node]) -> bool:
    if field.kind == "date":
        return True
    values = [value for node in nodes for value in _values(node.fields.get(field.name))]
    fit = [isinstance(v, int | float) and v == int(v) and FIRST_YEAR <= v <= LAST_YEAR for v in values]
    return bool(fit) and sum(fit) >= _YEARS * len(fit)


def _values(value: FieldValue | None) -> Iterator[str | int | float]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _field_of(
    quantity: Quantity, fields: Sequence[Field], years: Sequence[Field], others: Sequence[Field]
) -> Field | None:
    """Return the field that a quantity speaks of, None where that is not plain.

    A year whose words name a field of another type (`others`) is not about what the plan finds.
    """
    if quantity.year:
        only = years[0] if len(years) == 1 and not _called(quantity, others) else None
        return _called(quantity, years) or only
    if quantity.op == "=":
        return None
    amounts = [field for field in fields if field not in years]
    if quantity.dimension is None:
        return _called(quantity, amounts)
    if quantity.dimension == "money":
        prices = [field for field in amounts if _words(field) & _PRICES]
        return prices[0] if len(prices) == 1 else _called(quantity, prices)
    alike = [field for field in amounts if (unit := _unit(field)) and UNITS[unit][0] == quantity.dimension]
    return alike[0] if len(alike) == 1 else _called(quantity, alike)


def _called(quantity: Quantity, fields: Sequence[Field]) -> Field | None:
    """Return the field that a word beside the number names, the nearest word first."""
    for word in map(stem, quantity.words):
        for field in fields:
            if _names(word, field):
                return field
    return None


def _naming(text: str, field: Field) -> Iterator[tuple[int, int]]:
    """Give the stretches of a question that only say which field is meant, as `cost` and `weighs` do."""
    for match in _WORD.finditer(text):
        if _names(stem(match.group().lower()), field):
            yield match.span()


def _names(word: str, field: Field) -> bool:
    """Whether the stem of a word names a field."""
    return word in _words(field) or bool(_MEANT.get(word, frozenset()) & _words(field))


def _words(field: Field) -> frozenset[str]:
    """Return the stems of a field's name, its unit left out."""
    unit = _unit(field)
    return frozenset(stem(word) for word in words(field.name).split() if word != unit)


def _unit(field: Field) -> str | None:
    """Return the unit that a field's name ends with, as in `weight_g`."""
    last = words(field.name).split()[-1:]
    return last[0] if last and last[0] in UNITS else None


def _filters(quantity: Quantity, field: Field) -> list[Filter]:
    """Return the quantity as conditions on the field, in the field's unit."""
    if field.kind == "date":
        return _of_dates(quantity, field)
    unit = _unit(field)
    factor = UNITS[quantity.unit][1] / UNITS[unit][1] if unit and quantity.dimension == UNITS[unit][0] else 1.0
    low, high = (_number(end * factor) for end in (quantity.low, quantity.high))
    return [Filter(TARGET, field.name, quantity.op, [low, high] if quantity.op == "between" else low)]


def _of_dates(quantity: Quantity, field: Field) -> list[Filter]:
    """Return a year as conditions on dates, which are texts in the order of time: 2004 is from 2004 to before 2005."""
    first, after = f"{int(quantity.low):04}", f"{int(quantity.high) + 1:04}"
    since, before = Filter(TARGET, field.name, ">=", first), Filter(TARGET, field.name, "<", after)
    return {
        "<": [replace(before, value=first)], "<=": [before], ">": [replace(since, value=after)], ">=": [since],
    }.get(quantity.op, [since, before])  # fmt: skip


def _number(value: float) -> int | float:
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
