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
    if not isinstance(data, Mapping) or not any(data.get(key) for key in ("filters", "exclude", "order")):
        return []
    try:
        return contradictions(Plan.parse({**data, "filters": [], "exclude": [], "order": None}, schema), schema)
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


def _without_ids(data: object) -> tuple[dict[tuple[int, ...], Any], object]:
    """Return the ids of each anchor, by its place, and the plan without them.

    The place is the index in `anchors`, after the index of the exclusion for the anchor of an exclusion.
    """
    if not isinstance(data, Mapping):
        return {}, data
    ids: dict[tuple[int, ...], Any] = {}

    def bare(pattern: Mapping[str, Any], place: tuple[int, ...]) -> dict[str, Any]:
        if not isinstance(anchors := pattern.get("anchors"), list):
            return dict(pattern)
        has_ids = {i: item["ids"] for i, item in enumerate(anchors) if isinstance(item, Mapping) and "ids" in item}
        ids.update({(*place, i): given for i, given in has_ids.items()})
        return {**pattern, "anchors": [
            {key: value for key, value in item.items() if key != "ids"} if i in has_ids else item
            for i, item in enumerate(anchors)
        ]}  # fmt: skip

    plan = bare(data, ())
    if isinstance(exclude := plan.get("exclude"), list):
        plan["exclude"] = [bare(item, (i,)) if isinstance(item, Mapping) else item for i, item in enumerate(exclude)]
    return ids, plan


def _with_ids(data: object, ids: Mapping[tuple[int, ...], Any]) -> object:
    if not ids or not isinstance(data, dict):
        return data

    def restored(pattern: dict[str, Any], place: tuple[int, ...]) -> dict[str, Any]:
        if not isinstance(anchors := pattern.get("anchors"), list):
            return pattern
        return pattern | {"anchors": [
            item | {"ids": ids[*place, i]} if (*place, i) in ids and isinstance(item, dict) else item
            for i, item in enumerate(anchors)
        ]}  # fmt: skip

    plan = restored(data, ())
    if isinstance(exclude := plan.get("exclude"), list):
        plan = plan | {
            "exclude": [restored(one, (i,)) if isinstance(one, dict) else one for i, one in enumerate(exclude)]
        }
    return plan
