"""check_plan: return all faults of a plan at once, and the corrected plan where the correction needs no guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from search.domain.errors import MOST_FAULTS, Fault, PlanInvalid, first_faults
from search.domain.graph import Schema
from search.domain.mending import mend
from search.domain.plan import Plan
from search.domain.plan.normal_form import contradictions
from search.services.searches.storable import storable_json, storable_text

APART = ("filters", "exclude", "order", "ask", "show", "show_edge")
"""Keys of a plan beside its walk: faults of theirs do not hide those of the walk."""
HOLDING = ("anchors", "exclude", "plan")
"""Keys under which anchors are found: of a plan, of an exclusion, of the plan inside an anchor."""
Place = tuple[str | int, ...]
"""The keys and indexes that lead to a part of a plan."""


@dataclass(frozen=True)
class CheckedPlan:
    """The result of checking a plan against a schema.

    `plan` is set when the plan has no fault. Otherwise `faults` holds its faults. If harmless corrections remove all of
    them, `mended` is the corrected plan, and `changes` holds a sentence for each correction.
    """

    plan: Plan | None = None
    faults: tuple[Fault, ...] = ()
    mended: Plan | None = None
    changes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return `{"valid": true, "plan"}` or `{"valid": false, "errors", "mended"?}`."""
        if self.plan is not None:
            return {"valid": True, "plan": self.plan.to_json()}
        answer: dict[str, Any] = {"valid": False, "errors": [fault.to_json() for fault in self.faults]}
        if self.mended is not None:
            answer["mended"] = {"plan": self.mended.to_json(), "changes": list(self.changes)}
        return answer


def check_plan(data: object, schema: Schema) -> CheckedPlan:
    """Check a plan's JSON against a schema: its form, its names, its shape, and whether any graph can answer it.

    Return the valid plan or its faults. The pointers of faults are relative to the plan.
    """
    clean, unstorable = storable_json(data, "")
    if unstorable:
        return CheckedPlan(faults=first_faults(unstorable))
    try:
        plan = Plan.parse(clean, schema)
    except PlanInvalid as error:
        if len(error.faults) > MOST_FAULTS:
            # What is so wrong has no harmless correction.
            return CheckedPlan(faults=error.faults)
        return _with_mended(clean, schema, first_faults((*error.faults, *_contradictions_apart(clean, schema))))
    if faults := contradictions(plan, schema):
        return _with_mended(clean, schema, tuple(faults))
    return CheckedPlan(plan=plan)


def _contradictions_apart(data: object, schema: Schema) -> list[Fault]:
    """Return the contradictions of a faulty plan's walk alone; empty if it is still invalid."""
    if not isinstance(data, Mapping) or not any(data.get(key) for key in APART):
        return []
    try:
        walk = {key: value for key, value in data.items() if key not in APART}
        return contradictions(Plan.parse(walk, schema), schema)
    except PlanInvalid:
        return []


def _with_mended(data: object, schema: Schema, faults: tuple[Fault, ...]) -> CheckedPlan:
    """Return the faults, and the mended plan if mending leaves no fault."""
    storable = tuple(Fault(storable_text(f.pointer), storable_text(f.message), f.nearest) for f in faults)
    # Mending removes ids, because a language model can only invent them. Ids from a person are put back.
    ids, bare = _without_ids(data)
    written, said = mend(bare, schema)
    try:
        plan = Plan.parse(_with_ids(written, ids), schema)
    except PlanInvalid:
        return CheckedPlan(faults=storable)
    if not said or contradictions(plan, schema):
        return CheckedPlan(faults=storable)
    return CheckedPlan(faults=storable, mended=plan, changes=tuple(storable_text(sentence) for sentence in said))


def _without_ids(data: object) -> tuple[dict[Place, Any], object]:
    """Return the ids of each anchor, by its place, and the plan without them."""
    ids: dict[Place, Any] = {}

    def bare(value: object, place: Place) -> object:
        if isinstance(value, list):
            return [bare(item, (*place, i)) for i, item in enumerate(value)]
        if not isinstance(value, Mapping):
            return value
        if place[-2:-1] == ("anchors",) and "ids" in value:
            ids[place] = value["ids"]
            value = {key: one for key, one in value.items() if key != "ids"}
        return {key: bare(one, (*place, key)) if key in HOLDING else one for key, one in value.items()}

    return ids, bare(data, ())


def _with_ids(data: object, ids: Mapping[Place, Any], place: Place = ()) -> object:
    """Return the plan with the ids of its anchors put back."""
    if isinstance(data, list):
        return [_with_ids(item, ids, (*place, i)) for i, item in enumerate(data)]
    if not isinstance(data, Mapping):
        return data
    held = {key: _with_ids(one, ids, (*place, key)) if key in HOLDING else one for key, one in data.items()}
    return held | ({"ids": ids[place]} if place in ids else {})
