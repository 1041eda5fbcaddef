"""A plan inside an anchor in the editor: it is edited alone, and the form keeps the fields of the plan around it.

The kept fields are those that a browser sends, so that they are read as carefully as any form. They may hold kept
fields themselves: plans are nested several deep.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.domain.errors import Fault, PlanInvalid
from search.domain.graph import Schema
from search.domain.plan import MAX_ANCHORS, Plan
from search.services.searches.check_plan import check_plan
from search.views.plan_additions import without_blanks
from search.views.plan_conditions import parsed_json
from search.views.plan_form import Json, oriented, read_plan

OUTSIDE = "/outside"
"""Name of the field that holds the form around a plan: the index of the anchor, and the fields."""


@dataclass(frozen=True)
class Around:
    """The form around the plan that is edited: the anchor with the index `anchor` of the plan `plan` is found by it."""

    anchor: int
    plan: Json
    fields: Mapping[str, str]

    @classmethod
    def of(cls, fields: Mapping[str, str], schema: Schema) -> Around | None:
        """Return what the fields of a form keep of the form around it; None if they are those of a whole plan."""
        kept = parsed_json(fields.get(OUTSIDE, ""))
        if not isinstance(kept, dict) or not isinstance(kept.get("fields"), dict):
            return None
        outer = {name: value for name, value in kept["fields"].items() if isinstance(value, str)}
        plan, index = read_plan(outer, schema), kept.get("anchor")
        there = isinstance(index, int) and 0 <= index < len(plan["anchors"])
        return cls(index, plan, outer) if there and isinstance(index, int) else None

    @property
    def kept(self) -> str:
        """The value of the field `OUTSIDE`."""
        return json.dumps({"anchor": self.anchor, "fields": dict(self.fields)})

    @property
    def text(self) -> str:
        """How the anchor is called."""
        return str(self.plan["anchors"][self.anchor]["text"])

    def with_inner(self, inner: Json, schema: Schema) -> tuple[Json, list[Fault]]:
        """Return the plan around with another plan inside its anchor, and the faults of that plan.

        An anchor that was called by what its plan says is called anew.
        """
        anchor = self.plan["anchors"][self.anchor]
        changed: dict[str, Any] = anchor | {"plan": without_blanks(inner)}
        if anchor["text"] == _wording(anchor.get("plan"), schema):
            changed["text"] = _wording(changed["plan"], schema) or anchor["text"]
        anchors = [*self.plan["anchors"]]
        anchors[self.anchor] = changed
        plan, within = self.plan | {"anchors": anchors}, f"/anchors/{self.anchor}/plan"
        faults = [
            fault for fault in check_plan(without_blanks(plan), schema).faults if fault.pointer.startswith(within)
        ]
        return plan, [Fault(fault.pointer[len(within) :], fault.message, fault.nearest) for fault in faults]


def entered(fields: Mapping[str, str], plan: Json, given: str, schema: Schema) -> tuple[Json, Around] | None:
    """Return the plan inside an anchor, whose index a button gives, and what is around it; None if there is none."""
    index = int(given) if given.isdecimal() and len(given) < 3 else MAX_ANCHORS
    if index >= len(plan["anchors"]):
        return None
    try:
        inner = Plan.parse(plan["anchors"][index].get("plan"), schema).to_json()
    except PlanInvalid:
        return None
    own = {name: value for name, value in fields.items() if name.startswith("/")}
    return oriented(inner), Around(index, plan, own)


def _wording(inner: object, schema: Schema) -> str:
    """Return what a plan finds, in words; an empty text if it is none."""
    try:
        return Plan.parse(inner, schema).wording
    except PlanInvalid:
        return ""
