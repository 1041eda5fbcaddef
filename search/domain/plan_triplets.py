"""Turns a plan into triplets, for pipelines that ground triplets and have no language model to write them."""

from __future__ import annotations

from search.domain.graph import ANY
from search.domain.plan import Filter, Plan
from search.domain.triplets import Symbol, Triplet, TripletQuery


def triplets_of(plan: Plan) -> tuple[TripletQuery, list[str]]:
    """Return the triplets of a plan, and a sentence for each part that triplets cannot say.

    Anchors become constants, hops become triplets in their stored direction. Exclusions, orders, comparisons of two
    nodes, and negated filters cannot be said.
    """
    target = plan.target.var
    symbols: dict[str, Symbol] = {}
    for anchor in plan.anchors:
        labels = () if anchor.label == ANY else (anchor.label,)
        symbols[anchor.var] = Symbol(anchor.var, labels, anchor.text, anchor.ids)
    for hop in plan.hops:
        labels = () if hop.to_label == ANY else (hop.to_label,)
        symbols.setdefault(hop.source, Symbol(hop.source))
        known = symbols.get(hop.to_var)
        if known is None or not known.labels:
            symbols[hop.to_var] = Symbol(hop.to_var, labels, known.text if known else "", known.ids if known else ())
    asked = symbols.get(target, Symbol(target))
    symbols[target] = Symbol(target, plan.target.labels or asked.labels, asked.text, asked.ids)
    triplets = tuple(
        Triplet(hop.to_var, _relation(hop.rel), hop.source)
        if hop.direction == "in"
        else Triplet(hop.source, _relation(hop.rel), hop.to_var, hop.direction is not None)
        for hop in plan.hops
    )
    filters, left_out = _filters(plan)
    left_out += ["Exclusions are left out."] if plan.exclude else []
    left_out += ["The order is left out."] if plan.order else []
    return TripletQuery(tuple(symbols.values()), triplets, filters, target), left_out


def _relation(name: str) -> str | None:
    return None if name == ANY else name


def _filters(plan: Plan) -> tuple[tuple[Filter, ...], list[str]]:
    """Return the filters that triplets can have, and a sentence if others are left out."""
    kept: list[Filter] = []
    for condition in plan.filters:
        if condition.op == "between" and isinstance(condition.value, list):
            low, high = condition.value
            kept += [
                Filter(condition.var, condition.field, ">=", low),
                Filter(condition.var, condition.field, "<=", high),
            ]
        elif condition.compared is None and condition.op in ("=", "<", "<=", ">", ">=", "contains", "in"):
            kept.append(condition)
    said = {condition.field for condition in kept}
    missing = [condition.field for condition in plan.filters if condition.field not in said]
    return tuple(kept), [f"Conditions on {', '.join(missing)} are left out."] if missing else []
