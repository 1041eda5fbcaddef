"""What a follow-up is held against: the plan before with its variables, and what changed plans find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.bindings import bindings
from search.domain.errors import PlanInvalid
from search.domain.graph import ANY, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Anchor, Plan
from search.domain.plan.normal_form import possible_types
from search.domain.plan.parts import MAX_IDS
from search.domain.trace import Limit
from search.interfaces import GraphStore, MentionIndex, NodeStore
from search.stages.plan.given import Before, GivenPlace, variables_of, without_anchor
from search.stages.plan.sets import Given


@dataclass(frozen=True, eq=False)
class FollowUpGround:
    """The graph of a release, for the changes of one plan."""

    mentions: MentionIndex
    nodes: NodeStore
    schema: Schema
    graph: GraphStore
    limit: Limit

    def given(self, plan: Plan) -> Given | None:
        """Return the set that a plan finds, for the words that refer to it; None if no graph can answer the plan."""
        types = {var: self._mask(names) for var, names in possible_types(plan, self.schema).items()}
        compared = [var for var in sorted(variables_of(plan)) if var not in types]
        if not all(types.values()):
            return None
        anchors = {anchor.var: anchor for anchor in plan.anchors if anchor.var not in compared}
        last_first = [anchor.var for anchor in reversed(plan.anchors) if anchor.var in types]
        order = [*last_first, *(var for var in types if var not in anchors)]
        places = [self._place(plan, var, types[var], anchors) for var in order]
        return Given(types[plan.target.var], Before(plan, places))

    def _place(self, plan: Plan, var: str, types: int, anchors: dict[str, Anchor]) -> GivenPlace:
        anchor = anchors.get(var)
        if anchor is None:
            return GivenPlace(var, types)
        rest = without_anchor(plan, var).hops
        relations = {self.schema.relation_codes[hop.rel] for hop in plan.hops if hop not in rest and hop.rel != ANY}
        keys = [key for key in self.nodes.keys(self._ids(anchor)) if key is not None] if anchor.plan is None else []
        return GivenPlace(var, types, True, frozenset(keys), frozenset(relations))

    def _mask(self, names: frozenset[str]) -> int:
        return sum(1 << self.schema.type_codes[name] for name in names)

    def fits(self, plan: Plan) -> bool:
        """Whether a plan is one that the engines can execute over this schema."""
        try:
            Plan.parse(plan.to_json(), self.schema)
        except PlanInvalid:
            return False
        return all(possible_types(plan, self.schema).values())

    def found(self, plan: Plan, rows: int = 1) -> list[str] | None:
        """Return the ids of up to `rows` nodes that a plan finds, in its order; None if that cannot be known here.

        It cannot if an anchor has neither ids nor a known name, or if the engine stopped early.
        """
        linked = self._linked(plan)
        if linked is None or not linked.is_executable:
            return None
        found = self.graph.execute(linked, self.limit, rows=rows)
        if not found.candidates and found.truncated:
            return None
        return self.nodes.ids([candidate.key for candidate in found.candidates])

    def _linked(self, plan: Plan) -> LinkedPlan | None:
        wanted = [
            (anchor.var, exclusion, node_id, 1.0)
            for exclusion, anchor in plan.all_anchors
            for node_id in self._ids(anchor)
        ]
        bound = bindings(wanted, self.nodes)
        held = {(binding.var, binding.exclusion) for binding in bound}
        whole = all((anchor.var, exclusion) in held for exclusion, anchor in plan.all_anchors)
        return LinkedPlan(plan, bound) if whole else None

    def _ids(self, anchor: Anchor) -> Sequence[str]:
        """Return the ids of the nodes that an anchor brings, that its plan finds, or that its text names."""
        if anchor.ids:
            return anchor.ids
        if anchor.plan is not None:
            return self.found(anchor.plan, MAX_IDS) or ()
        keys = list(self.mentions.lookup(anchor.text))
        if anchor.label != ANY and keys:
            code = self.schema.type_codes[anchor.label]
            keys = [key for key, kind in zip(keys, self.nodes.types(keys), strict=True) if kind == code]
        return self.nodes.ids(keys)
