"""Checks whether the parts of a plan fit together and fit the schema, so that the plan can be executed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from search.domain.errors import Fault, nearest
from search.domain.graph import ANY, Field, Schema
from search.domain.plan.filter_checks import MEASURED, NAME, FilterChecker
from search.domain.plan.parts import Aggregate, Anchor, Count, EdgeField, Exclusion, Filter, Hop

if TYPE_CHECKING:
    from search.domain.plan import Plan


def misfits(plan: Plan, schema: Schema) -> list[Fault]:
    """Return every fault in the plan's structure, in its filters, exclusions and order, and in the plans inside it."""
    checker = _Checker(schema)
    for at, anchor in plan.anchors_by_pointer:
        if anchor.plan is not None:
            checker.check_inner(anchor.plan, schema, f"{at}/plan")
    checker.check_anchors(plan.anchors, plan.hops, "")
    checker.check_where(plan.hops, "/hops")
    checker.check_connections(plan)
    checker.check_filters(plan.filters, plan.variables, plan.labels_of, "/filters")
    for i, exclusion in enumerate(plan.exclude):
        checker.check_exclusion(plan, exclusion, f"/exclude/{i}")
    checker.check_counts(plan)
    checker.check_order(plan)
    checker.check_show(plan)
    return checker.faults


class _Checker(FilterChecker):
    """Collects the faults of one plan; an instance is used once."""

    def check_anchors(self, anchors: Sequence[Anchor], hops: Sequence[Hop], at: str) -> None:
        """Check the variables of the anchors and hops of a plan or of an exclusion at the pointer `at`."""
        bound = [anchor.var for anchor in anchors]
        for i, var in enumerate(bound):
            if var in bound[:i]:
                self.fault(f"{at}/anchors/{i}/var", f"The variable {var!r} belongs to another starting point already.")
        for i, hop in enumerate(hops):
            if hop.source == hop.to_var:
                message = f"The step leads from {hop.source!r} to itself; give it another to_var."
                self.fault(f"{at}/hops/{i}/to_var", message)

    def check_inner(self, plan: Plan, schema: Schema, at: str) -> None:
        """Check the plan inside an anchor; it must select something, because it is executed."""
        if not (plan.anchors or plan.runs_over_type):
            message = "A plan inside another one needs a starting point, a filter, an exclusion or an order."
            self.fault(at, message)
        self.faults += [fault.below(at) for fault in misfits(plan, schema)]

    def check_connections(self, plan: Plan) -> None:
        """Check that hops and comparisons connect every anchor and every hop with the target."""
        if plan.hops and not plan.anchors and not (plan.filters or plan.exclude or plan.order or plan.aggregate):
            message = "A plan with steps needs a starting point, a filter, an exclusion or an order."
            self.fault("/anchors", message)
        target = plan.target.var
        joined = [(hop.source, hop.to_var) for hop in plan.hops]
        compared = [(f.var, f.compared.var) for f in plan.comparisons if f.compared]
        touched = {var for ends in joined + compared for var in ends}
        if (plan.anchors or plan.hops) and target not in touched | {anchor.var for anchor in plan.anchors}:
            self.fault("/target/var", f"No step reaches the target {target!r}.", nearest(target, touched))
            return
        reach = _reached({target}, joined + compared)
        for i, anchor in enumerate(plan.anchors):
            if anchor.var not in reach:
                self.fault(f"/anchors/{i}/var", f"No steps lead from the starting point {anchor.var!r} to the target.")
        held = _reached({target, *(anchor.var for anchor in plan.anchors)}, joined)
        for i, hop in enumerate(plan.hops):
            if hop.source not in reach or hop.source not in held:
                self.fault(f"/hops/{i}/from", f"The step from {hop.source!r} is not connected to the target.")

    def check_exclusion(self, plan: Plan, exclusion: Exclusion, at: str) -> None:
        """Check that an exclusion begins at one variable of the plan, holds together, and fits the schema."""
        self.check_anchors(exclusion.anchors, exclusion.hops, at)
        self.check_where(exclusion.hops, f"{at}/hops")
        own, shared = exclusion.variables, [var for var in exclusion.variables if var in plan.variables]
        if not shared:
            close = next(filter(None, (nearest(var, plan.variables) for var in own)), None)
            which = ", ".join(map(repr, plan.variables[:8]))
            self.fault(at, f"The exclusion starts nowhere: one of its variables is one of the plan ({which}).", close)
            return
        if len(shared) > 1:
            which = " and ".join(map(repr, shared))
            message = (
                f"An exclusion begins at one variable of the plan; this one holds {which}. Give the others new names."
            )
            self.fault(at, message)
            return
        reach = _reached(set(shared), [(hop.source, hop.to_var) for hop in exclusion.hops])
        for i, anchor in enumerate(exclusion.anchors):
            if anchor.var not in reach:
                message = f"No steps lead from the starting point {anchor.var!r} to {shared[0]!r}."
                self.fault(f"{at}/anchors/{i}/var", message)
            if anchor.var in shared and anchor.var in {one.var for one in plan.anchors}:
                message = f"{anchor.var!r} is a starting point of the plan: what it names cannot be excluded as well."
                self.fault(f"{at}/anchors/{i}/var", message)
        for i, hop in enumerate(exclusion.hops):
            if hop.source not in reach:
                self.fault(f"{at}/hops/{i}/from", f"The step from {hop.source!r} is not connected to {shared[0]!r}.")
        pattern = plan.excluded(exclusion)
        labels = pattern.labels_of
        labels[shared[0]] = (*labels.get(shared[0], ()), *plan.labels_of.get(shared[0], ()))
        self.check_filters(exclusion.filters, own, labels, f"{at}/filters")
        self._check_values(exclusion.filters, f"{at}/filters")

    def _check_values(self, filters: Sequence[Filter], at: str) -> None:
        """Check that the filters of an exclusion have values of their own, and count nothing."""
        for i, condition in enumerate(filters):
            if condition.count is not None:
                message = "A filter of an exclusion is about a field; only the plan's own filters count."
                self.fault(f"{at}/{i}/count", message)
            if condition.compared is not None:
                message = "A filter of an exclusion takes a value; only the plan's own filters compare two entities."
                self.fault(f"{at}/{i}/value", message)

    def check_counts(self, plan: Plan) -> None:
        """Check that only the answers' own counts are made among the nodes of another variable."""
        for i, condition in enumerate(plan.filters):
            if condition.count is not None and condition.count.among and condition.var != plan.target.var:
                message = f"Only a count of {plan.target.var!r}, the answers, can be made among other entities."
                self.fault(f"/filters/{i}/count/among", message)

    def check_order(self, plan: Plan) -> None:
        """Check that the answers have the order's field, and that its values have an order."""
        order = plan.order
        if order is None:
            return
        if isinstance(order.by, Count):
            self.check_count(order.by, plan.variables, plan.target.var, "/order/by/count")
            return
        if isinstance(order.by, EdgeField):
            found = self._edge(plan, order.by, "/order/by/edge", "/order/by/field")
            if found is not None and found.kind not in MEASURED:
                kind = "text" if found.kind == "text" else "a keyword"
                self.fault("/order/by/field", f"{found.name} is {kind}; an order needs a number or a date.")
            return
        sets = plan.labels_of.get(plan.target.var, ())
        fields = self.fields(sets)
        measured = [field.name for field in fields.values() if field.kind in MEASURED]
        found = fields.get(order.by)
        if found is None and order.by != NAME:
            instead = f"; order by {_listed(measured)}" if measured else " and none that has an order"
            message = f"{self.said(sets)} has no field {order.by!r} to order by{instead}."
            self.fault("/order/by/field", message, nearest(order.by, measured))
        elif found is None or found.kind not in MEASURED:
            kind = "text" if found is None or found.kind == "text" else "a keyword"
            instead = f"order by {_listed(measured)}" if measured else "these answers have no field of either kind"
            message = f"{order.by} is {kind}; an order needs a number or a date: {instead}."
            self.fault("/order/by/field", message)

    def check_show(self, plan: Plan) -> None:
        """Check that the answers have the field whose value is asked for, and that an aggregate can be computed."""
        sets = plan.labels_of.get(plan.target.var, ())
        fields = self.fields(sets)
        if (shown := plan.shown_edge) is not None:
            if plan.aggregate:
                message = f"{plan.aggregate} is computed from a field of the answers, not of a relation."
                self.fault("/show_edge", message)
            elif not plan.show:
                self.fault("/show", "show names the field of the relation.")
            else:
                self._edge(plan, shown, "/show_edge", "/show")
        elif plan.aggregate:
            self._check_aggregate(plan.aggregate, plan.show, sets)
        elif plan.show and plan.show not in fields:
            self.fault("/show", f"{self.said(sets)} has no field {plan.show!r} to show.", nearest(plan.show, fields))

    def _edge(self, plan: Plan, of: EdgeField, at_var: str, at_field: str) -> Field | None:
        """Return the field of the edge between the target and a variable, or None with a fault."""
        hop, target = plan.edge_of(of.var), plan.target.var
        if hop is not None:
            others = [(one.source, one.to_var) for one in plan.hops if one is not hop]
            if of.var in _reached({target}, others):
                message = f"{target!r} and {of.var!r} are also joined by other steps, and then no relation is compared."
                self.fault(at_var, message)
            return self.edge_field(hop.rel, of.field, at_field)
        touching = [(one.source, one.to_var) for one in plan.hops if target in (one.source, one.to_var)]
        if sum(one.joins(target, of.var) for one in plan.hops) > 1:
            self.fault(at_var, f"Several steps join {target!r} and {of.var!r}, so it is open which relation is meant.")
        else:
            message = f"No step joins {target!r}, the answers, and {of.var!r}."
            self.fault(at_var, message, nearest(of.var, [end for ends in touching for end in ends if end != target]))
        return None

    def _check_aggregate(self, aggregate: Aggregate, show: str, sets: Sequence[Sequence[str]]) -> None:
        """Check that a field is given of which the answers have numbers, one each if they are added up."""
        fields = self.all_fields(sets)
        numbers = [one for one in fields if one.kind == "number"]
        adds = aggregate in ("sum", "mean")
        fit = list(dict.fromkeys(one.name for one in numbers if not (adds and one.many)))
        instead = f"show {_listed(fit)}" if fit else "these answers have no such field"
        if not show:
            self.fault("/show", f"{aggregate} is computed from a field of the answers with numbers: {instead}.")
        elif show not in [one.name for one in fields]:
            self.fault("/show", f"{self.said(sets)} has no field {show!r}.", nearest(show, fit))
        elif show not in [one.name for one in numbers]:
            message = f"{show} holds no numbers, and {aggregate} is computed from numbers: {instead}."
            self.fault("/show", message, nearest(show, fit))
        elif show not in fit:
            message = f"{show} holds several numbers of one entity; only their min or max can be asked for."
            self.fault("/show", message)


def _reached(start: Collection[str], ends: Iterable[tuple[str, str]]) -> set[str]:
    """Return the variables that are connected with the start ones by pairs of ends."""
    reach, pairs = set(start), list(ends)
    for _ in pairs:
        for one, other in pairs:
            if one in reach or other in reach:
                reach |= {one, other}
    return reach


def _listed(names: Sequence[str]) -> str:
    return " or ".join(names[:4]) if names else ANY
