"""Which conditions of its plan each candidate meets. Ranking, evidence, attribution and annotation read this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from search.domain.evidence import ConditionStatus, OrderEvidence, PlanShare
from search.domain.ranking import keys_in


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of one plan, each with its status for one candidate. A status is unknown only if time ran out.

    `whole` says whether the complete plan matches with the target bound to the candidate. If it does not, each
    condition is checked with only the part of the plan that contains it, see `search.domain.plan.walks`. `plans` are
    the plans that put the candidate into the graph's list, the largest share first; it is empty if no plan found it.
    `exclude` has a status for each exclusion: met if it was checked that its pattern has no match. `order` is the value
    by which the plan orders the candidate, with its place; None if the plan has no order or the value is not known.
    """

    plan_index: int
    whole: ConditionStatus
    anchors: tuple[tuple[str, ConditionStatus], ...] = ()
    hops: tuple[ConditionStatus, ...] = ()
    filters: tuple[ConditionStatus, ...] = ()
    plans: tuple[PlanShare, ...] = ()
    exclude: tuple[ConditionStatus, ...] = ()
    order: OrderEvidence | None = None

    def to_json(self) -> dict[str, Any]:
        """Return every condition with its status."""
        return {
            "plan_index": self.plan_index,
            "whole": self.whole,
            "anchors": [list(anchor) for anchor in self.anchors],
            "hops": list(self.hops),
            "filters": list(self.filters),
            "plans": [share.to_json() for share in self.plans],
        } | self._second()

    def _second(self) -> dict[str, Any]:
        exclude = {"exclude": list(self.exclude)} if self.exclude else {}
        return exclude | ({"order": self.order.to_json()} if self.order else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Conditions:
        """Return the conditions that `to_json` wrote."""
        return cls(
            data["plan_index"],
            data["whole"],
            tuple((var, status) for var, status in data["anchors"]),
            tuple(data["hops"]),
            tuple(data["filters"]),
            tuple(PlanShare(share["plan_index"], share["share"]) for share in data["plans"]),
            tuple(data.get("exclude", ())),
            OrderEvidence.from_json(data["order"]) if data.get("order") else None,
        )


@dataclass(frozen=True)
class CheckedConditions:
    """The conditions of the first candidates of a list, by key.

    `leading` is the index of the plan that ordered the top of the list. `detail` says what could not be checked, and
    why. Without any plan there is nothing to check, and `conditions` is empty. `shown` holds the conditions of the plan
    that is shown for those candidates that it found, that its exclusions leave out, or that no plan found, where
    `conditions` holds those of another plan. Evidence is of that plan; ranking compares candidates by their own plans.
    """

    conditions: Mapping[int, Conditions] = field(default_factory=dict)
    leading: int | None = None
    detail: str = ""
    shown: Mapping[int, Conditions] = field(default_factory=dict)

    def of_shown(self, key: int) -> Conditions | None:
        """Return the conditions of a candidate that its evidence tells; None if it was not checked."""
        return self.shown.get(key) or self.conditions.get(key)

    @property
    def status(self) -> Literal["ok", "degraded"]:
        """`ok` if everything was checked, else `degraded`."""
        return "degraded" if self.detail else "ok"

    def to_json(self) -> dict[str, Any]:
        """Return keys and conditions as parallel lists, and the leading plan; the evidence of results tells `shown`."""
        conditions = [one.to_json() for one in self.conditions.values()]
        return {"leading": self.leading, "keys": list(self.conditions), "conditions": conditions}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], key_of: Mapping[str, int] | None = None) -> CheckedConditions:
        """Return what `to_json` wrote. A recorded step has ids instead of keys: `key_of` maps id → key."""
        keys = keys_in(data, key_of)
        read = map(Conditions.from_json, data["conditions"])
        return cls(dict(zip(keys, read, strict=True)), data["leading"])
