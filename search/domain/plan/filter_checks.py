"""Checks filters against the fields of the node types that their variables may have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from search.domain.errors import nearest
from search.domain.graph import ANY, Field, Schema
from search.domain.plan.faults import FaultFinder, article, kind_of
from search.domain.plan.parts import MAX_NUMBER, MAX_TEXT, MAX_VALUES, WITHOUT_VALUE, Count, FieldOf, Filter, Hop
from search.domain.unstorable import storable

_DATE = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])([T ][0-9:.]+(Z|[+-][0-9:]+)?)?)?)?")
NAME = "name"
LISTS = ("between", "in", "not in")
"""Operators whose value is a list."""
ORDERED = ("<", "<=", ">", ">=", "between")
MEASURED = ("number", "date")
"""Kinds of fields whose values have an order of less and more."""

Labels = Mapping[str, Sequence[Sequence[str]]]
"""Variable → sets of node types; the type of its node must be in each of the sets."""


class FilterChecker(FaultFinder):
    """Checks filters and collects their faults."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self.schema = schema

    def check_filters(self, filters: Sequence[Filter], variables: Sequence[str], labels: Labels, at: str) -> None:
        """Check each filter of a plan or of an exclusion; `at` is the pointer to their list."""
        for i, condition in enumerate(filters):
            place = f"{at}/{i}"
            if condition.count is not None:
                self._check_var(condition.var, variables, place)
                self.check_count(condition.count, variables, condition.var, f"{place}/count")
                continue
            kind = self.kind(condition.var, condition.field, variables, labels, place)
            if kind is None:
                continue
            if isinstance(condition.value, FieldOf):
                self._check_comparison(condition, condition.value, kind, variables, labels, place)
            elif condition.op not in WITHOUT_VALUE:
                self._check_value(condition, kind, place)

    def check_where(self, hops: Sequence[Hop], at: str) -> None:
        """Check the filters on the edges of hops; `at` is the pointer to the list of hops."""
        for i, hop in enumerate(hops):
            for j, condition in enumerate(hop.where):
                place = f"{at}/{i}/where/{j}"
                found = self.edge_field(hop.rel, condition.field, f"{place}/field")
                if found is not None and condition.op not in WITHOUT_VALUE:
                    self._check_value(condition, found.kind, place)

    def edge_field(self, relation: str, name: str, at: str) -> Field | None:
        """Return a field of the edges of a relation, or None with a fault if they have no such field."""
        fields = self.schema.edge_fields(relation)
        if name not in fields:
            edges = "No relation has" if relation == ANY else f"{relation} has"
            known = f" It has {', '.join(list(fields)[:4])}." if fields and relation != ANY else ""
            self.fault(at, f"{edges} {'a' if relation == ANY else 'no'} field {name!r}.{known}", nearest(name, fields))
        return fields.get(name)

    def kind(self, var: str, field: str, variables: Sequence[str], labels: Labels, at: str) -> str | None:
        """Return the kind of a field of a variable's node, or None with a fault if there is no such field."""
        self._check_var(var, variables, at)
        fields = self.fields(labels.get(var, ()))
        if field == NAME or field in fields:
            return fields[field].kind if field in fields else "keyword"
        message = f"{self.said(labels.get(var, ()))} has no field {field!r}."
        self.fault(f"{at}/field", message, nearest(field, [*fields, NAME]))
        return None

    def check_count(self, count: Count, variables: Sequence[str], counting: str, at: str) -> None:
        """Check that a count is made among another variable of the plan, and that what is computed can be.

        `counting` is the variable that has the count.
        """
        self._check_function(count, at)
        others = [var for var in variables if var != counting]
        if count.among and count.among not in others:
            message = f"A count is made among the entities of another variable of the plan, not of {count.among!r}."
            self.fault(f"{at}/among", message, nearest(count.among, others))

    def _check_function(self, count: Count, at: str) -> None:
        """Check that the counted nodes have the number field that a function is computed from."""
        if count.function is None or not isinstance(count.of, str):
            return
        sets = [self._ends(count), *([(count.to_label,)] if count.to_label != ANY else [])]
        fields = self.fields(sets)
        numbers = [field.name for field in fields.values() if field.kind == "number"]
        if count.of not in numbers:
            known = count.of in fields
            about = f"{count.of} holds {article(fields[count.of].kind)}" if known else f"there is no field {count.of!r}"
            instead = f"; it has {', '.join(numbers[:4])}" if numbers else ", which has no number at all"
            message = f"A {count.function} needs a number of {self.said(sets)}{instead}: {about}."
            self.fault(f"{at}/of", message, nearest(count.of, numbers))

    def _ends(self, count: Count) -> tuple[str, ...]:
        """Return the node types that the edges of a count lead to."""
        kinds = [kind for kind in self.schema.relation_types if count.rel in (ANY, kind.relation)]
        out = [kind.target for kind in kinds] if count.direction != "in" else []
        back = [kind.source for kind in kinds] if count.direction != "out" else []
        return tuple(dict.fromkeys([*out, *back]))

    def _check_var(self, var: str, variables: Sequence[str], at: str) -> None:
        if var not in variables:
            message = f"No starting point, step or target has the variable {var!r}."
            self.fault(f"{at}/var", message, nearest(var, variables))

    def fields(self, sets: Sequence[Sequence[str]]) -> dict[str, Field]:
        """Return the fields of the node types that are in every set, by name."""
        return {field.name: field for field in self.all_fields(sets)}

    def all_fields(self, sets: Sequence[Sequence[str]]) -> list[Field]:
        """Return the fields of the node types that are in every set; types may have different fields of one name."""
        return [field for kind in self._types(sets) for field in kind.fields]

    def said(self, sets: Sequence[Sequence[str]]) -> str:
        """Return the node types that are in every set, in words."""
        return " or ".join(kind.name for kind in self._types(sets)[:4]) or "that entity"

    def _types(self, sets: Sequence[Sequence[str]]) -> list[Any]:
        return [kind for kind in self.schema.node_types if all(kind.name in allowed for allowed in sets)]

    def _check_comparison(
        self, condition: Filter, other: FieldOf, kind: str, variables: Sequence[str], labels: Labels, at: str
    ) -> None:
        against = self.kind(other.var, other.field, variables, labels, f"{at}/value")
        if against is None:
            return
        texts = ("keyword", "text")
        if kind != against and not (kind in texts and against in texts):
            message = f"{condition.field} holds {article(kind)}, and {other.field} {article(against)}: "
            self.fault(
                f"{at}/value", f"{message}they cannot be compared.", self._alike(kind, labels.get(other.var, ()))
            )
        elif condition.op in ORDERED and "text" in (kind, against):
            self.fault(f"{at}/op", f"{condition.field} is text and has no order; use = or !=.")

    def _alike(self, kind: str, sets: Sequence[Sequence[str]]) -> str | None:
        """Return the only field of that kind that the node types have, or None."""
        alike = [field.name for field in self.fields(sets).values() if field.kind == kind]
        return alike[0] if len(alike) == 1 else None

    def _check_value(self, condition: Filter, kind: str, at: str) -> None:
        values = condition.value if condition.op in LISTS else [condition.value]
        if condition.op in LISTS and not isinstance(values, list):
            self.fault(f"{at}/value", f"{condition.op} takes a list of values, not {kind_of(condition.value)}.")
            return
        if condition.op == "between" and len(values) != 2:
            self.fault(f"{at}/value", f"between takes two values, the lowest and the highest, not {len(values)}.")
        if condition.op in ("contains", "not contains") and kind == "number":
            message = f"{condition.op} looks inside text, and {condition.field} is a number; use = or between."
            self.fault(f"{at}/op", message)
        if condition.op in ORDERED and kind == "text":
            self.fault(f"{at}/op", f"{condition.field} is text and has no order; use contains.")
        if len(values) > MAX_VALUES:
            self.fault(f"{at}/value", f"{condition.op} takes at most {MAX_VALUES} values, not {len(values)}.")
        before = len(self.faults)
        for value in values[:MAX_VALUES]:
            self._check_scalar(condition, kind, value, f"{at}/value")
        if condition.op == "between" and len(values) == 2 and len(self.faults) == before and values[0] > values[1]:
            self.fault(f"{at}/value", f"Nothing lies between {values[0]} and {values[1]}: the lower value comes first.")

    def _check_scalar(self, condition: Filter, kind: str, value: Any, at: str) -> None:
        if kind == "number":
            right = isinstance(value, int | float) and not isinstance(value, bool)
            if right and not -MAX_NUMBER <= value <= MAX_NUMBER:
                self.fault(at, f"{value!s:.20} is too large for a number, or none at all.")
        else:
            right = isinstance(value, str) and len(value) <= MAX_TEXT and storable(value)
        if not right:
            self.fault(at, f"{condition.field} holds {article(kind)}, not {kind_of(value)}.")
        elif kind == "date" and condition.op not in ("contains", "not contains") and not _DATE.fullmatch(value):
            self.fault(at, f"{condition.field} holds {article(kind)}, not {value[:40]!r}.")
