"""The parts of a plan that were kept, added, removed or changed against an earlier plan."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from search.domain.errors import pointer
from search.domain.plan.parts import Anchor, Filter
from search.domain.plan.plan import Plan

ChangeKind = Literal["kept", "added", "removed", "changed"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
PlanPart = Literal["target", "anchor", "hop", "filter", "exclude", "order", "ask", "text"]
PLAN_PARTS: tuple[PlanPart, ...] = get_args(PlanPart)
_SIDES = {"<": "upper", "<=": "upper", ">": "lower", ">=": "lower"}
"""Comparisons that bound a value on one side: two bounds of one side exclude each other, two of both sides do not."""


@dataclass(frozen=True, slots=True)
class PlanChange:
    """One part of two plans: `was` is its JSON pointer in the earlier plan, `at` that in the later one.

    `was` is None for an added part, `at` for a removed one. `text` is the part `relevance_text` of the target, `ask`
    what is asked for: `ask`, with the field `show`, or `show` alone.
    """

    kind: ChangeKind
    part: PlanPart
    was: str | None
    at: str | None


def plan_changes(before: Plan, after: Plan) -> tuple[PlanChange, ...]:
    """Return every part of both plans once, in the order of the later plan; removed parts follow at the end.

    Variables with the same name are taken to be the same. An anchor is changed if its variable has the same hops in
    both plans and only its entity differs; a filter if another value bounds the same field on the same side.
    """
    found = [
        *_single("target", "/target", _target(before), _target(after)),
        *_listed("anchor", "anchors", before.anchors, after.anchors, _anchor_places(before, after)),
        *_listed("hop", "hops", before.hops, after.hops, lambda hop, _: (hop.source, hop.rel, hop.to_var)),
        *_listed("filter", "filters", before.filters, after.filters, _filter_place),
        *_listed("exclude", "exclude", before.exclude, after.exclude, lambda pattern, _: pattern),
        *_single("order", "/order", before.order, after.order),
        *_single("ask", _asked_at(after), _asked(before), _asked(after), _asked_at(before)),
        *_single("text", "/target/relevance_text", before.target.relevance_text, after.target.relevance_text),
    ]
    return tuple(sorted(found, key=lambda change: change.kind == "removed"))


def _asked(plan: Plan) -> tuple[str, str, str] | None:
    return None if plan.ask == "which" and not plan.show else (plan.ask, plan.show, plan.show_edge)


def _asked_at(plan: Plan) -> str:
    return "/show" if plan.ask == "which" else "/ask"


def _target(plan: Plan) -> Hashable:
    return plan.target.var, plan.target.labels


def _anchor_places(before: Plan, after: Plan) -> Any:
    """Return a function from an anchor and its side (0: earlier plan) to its place: its variable with its hops."""
    hops = [
        {
            anchor.var: frozenset(
                (hop.source, hop.rel, hop.to_var) for hop in plan.hops if anchor.var in (hop.source, hop.to_var)
            )
            for anchor in plan.anchors
        }
        for plan in (before, after)
    ]

    def place(anchor: Anchor, side: int) -> Hashable:
        return anchor.var, hops[side][anchor.var]

    return place


def _filter_place(condition: Filter, _: int) -> Hashable:
    return condition.var, condition.field, condition.count, _SIDES.get(condition.op, "value")


def _single(part: PlanPart, at: str, before: object, after: object, was: str = "") -> Iterator[PlanChange]:
    """Yield the change of a part that a plan has at most once; an empty value means that the plan does not have it.

    `was` is its pointer in the earlier plan if it is another one than in the later plan.
    """
    if before or after:
        kind: ChangeKind = "kept" if before == after else "changed" if before and after else "added"
        kind = kind if after else "removed"
        yield PlanChange(kind, part, (was or at) if before else None, at if after else None)


def _listed(part: PlanPart, key: str, before: Sequence[Any], after: Sequence[Any], place: Any) -> Iterator[PlanChange]:
    """Yield the changes of a list of parts: equal parts are kept; of the others, those in one place are changed."""
    left = dict(enumerate(before))
    kept = {}
    for at, one in enumerate(after):
        same = next((index for index, other in left.items() if other == one), None)
        if same is not None:
            kept[at] = same
            del left[same]
    for at, one in enumerate(after):
        was = kept.get(at)
        kind: ChangeKind = "kept"
        if was is None:
            was = next((index for index, other in left.items() if place(other, 0) == place(one, 1)), None)
            kind = "added" if was is None else "changed"
            left.pop(-1 if was is None else was, None)
        yield PlanChange(kind, part, None if was is None else pointer(key, was), pointer(key, at))
    for index in left:
        yield PlanChange("removed", part, pointer(key, index), None)
