"""Checks whether the parts of a plan fit together and fit the schema, so that the plan can be executed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from search.domain.errors import Fault, nearest
from search.domain.graph import Schema
from search.domain.plan.faults import FaultFinder, article, kind_of, storable
from search.domain.plan.parts import MAX_NUMBER, MAX_TEXT, MAX_VALUES, Filter

if TYPE_CHECKING:
    from search.domain.plan import Plan

_DATE = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])([T ][0-9:.]+(Z|[+-][0-9:]+)?)?)?)?")


def misfits(plan: Plan, schema: Schema) -> list[Fault]:
    """Return every fault in the plan's structure and in its filters."""
    checker = _Checker(schema)
    checker.check_anchors(plan)
    checker.check_connections(plan)
    checker.check_filters(plan)
    return checker.faults


class _Checker(FaultFinder):
    """Collects the faults of one plan; an instance is used once."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self.schema = schema

    def check_anchors(self, plan: Plan) -> None:
        bound = [anchor.var for anchor in plan.anchors]
        for i, var in enumerate(bound):
            if var in bound[:i]:
                self.fault(f"/anchors/{i}/var", f"The variable {var!r} belongs to another anchor already.")
        if plan.hops and not plan.anchors:
            self.fault("/anchors", "A plan with hops needs at least one anchor to start from.")
        for i, hop in enumerate(plan.hops):
            if hop.source == hop.to_var:
                self.fault(f"/hops/{i}/to_var", f"The hop leads from {hop.source!r} to itself; give it another to_var.")

    def check_connections(self, plan: Plan) -> None:
        """Check that every anchor and hop is connected to the target."""
        target = plan.target.var
        touched = {var for hop in plan.hops for var in (hop.source, hop.to_var)}
        if plan.anchors and target not in touched | {anchor.var for anchor in plan.anchors}:
            self.fault("/target/var", f"No hop reaches the target {target!r}.", nearest(target, touched))
            return
        reach = {target}
        for _ in plan.hops:
            for hop in plan.hops:
                if hop.source in reach or hop.to_var in reach:
                    reach |= {hop.source, hop.to_var}
        for i, anchor in enumerate(plan.anchors):
            if anchor.var not in reach:
                self.fault(f"/anchors/{i}/var", f"No hops lead from the anchor {anchor.var!r} to the target.")
        for i, hop in enumerate(plan.hops):
            if hop.source not in reach:
                self.fault(f"/hops/{i}/from", f"The hop from {hop.source!r} is not connected to the target.")

    def check_filters(self, plan: Plan) -> None:
        """Check every filter against the fields of the node types that its variable may have."""
        labels = plan.labels_of
        for i, condition in enumerate(plan.filters):
            at = f"/filters/{i}"
            if condition.var not in plan.variables:
                message = f"No anchor, hop or target has the variable {condition.var!r}."
                self.fault(f"{at}/var", message, nearest(condition.var, plan.variables))
            sets = labels.get(condition.var, ())
            types = [t for t in self.schema.node_types if all(t.name in allowed for allowed in sets)]
            fields = {f.name: f for t in types for f in t.fields}
            if condition.field != "name" and condition.field not in fields:
                where = " or ".join(t.name for t in types[:4]) or "that node"
                message = f"{where} has no field {condition.field!r}."
                self.fault(f"{at}/field", message, nearest(condition.field, [*fields, "name"]))
                continue
            kind = fields[condition.field].kind if condition.field in fields else "keyword"
            self._check_value(condition, kind, at)

    def _check_value(self, condition: Filter, kind: str, at: str) -> None:
        values = condition.value if condition.op in ("between", "in") else [condition.value]
        if condition.op in ("between", "in") and not isinstance(values, list):
            self.fault(f"{at}/value", f"{condition.op} takes a list of values, not {kind_of(condition.value)}.")
            return
        if condition.op == "between" and len(values) != 2:
            self.fault(f"{at}/value", f"between takes two values, the lowest and the highest, not {len(values)}.")
        if condition.op == "contains" and kind == "number":
            self.fault(f"{at}/op", f"contains looks inside text, and {condition.field} is a number; use = or between.")
        if condition.op in ("<", "<=", ">", ">=", "between") and kind == "text":
            self.fault(f"{at}/op", f"{condition.field} is text and has no order; use contains.")
        if len(values) > MAX_VALUES:
            self.fault(f"{at}/value", f"in takes at most {MAX_VALUES} values, not {len(values)}.")
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
        elif kind == "date" and condition.op != "contains" and not _DATE.fullmatch(value):
            self.fault(at, f"{condition.field} holds {article(kind)}, not {value[:40]!r}.")
