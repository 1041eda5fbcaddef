"""What a follow-up is held against: the graph, the schema, and the walks that lead from an entity to a variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from search.bindings import bindings
from search.domain.errors import PlanInvalid
from search.domain.graph import ANY, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Anchor, Plan
from search.domain.plan.normal_form import possible_types
from search.domain.trace import Limit
from search.interfaces import Adjacency, Encoder, GraphStore, MentionIndex, NodeStore
from search.language.names import Named
from search.stages.plan.enumeration.enumerate import Branch, Enumerator, Start
from search.stages.plan.follow_up.edits import Entity, Leg
from search.stages.plan.knowledge import Knowledge

_MAX_HOPS = 3
_MOST_IDS = 200
"""Largest number of nodes that a name of a follow-up is bound to."""


@dataclass(frozen=True, eq=False)
class Ground:
    """The tools of a release, for the changes of one plan. An instance serves one search: it keeps walks."""

    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore
    encoder: Encoder
    schema: Schema
    graph: GraphStore
    limit: Limit
    _walks: dict[Entity, list[Branch]] = field(default_factory=dict, init=False)

    @cached_property
    def knowledge(self) -> Knowledge:
        """The knowledge of the schema and its words."""
        return Knowledge.of(self.schema, self.encoder)

    def entities(self, named: Named) -> list[Entity]:
        """Return what a name may be bound to: its nodes, one entity for each of their types, most nodes first."""
        keys = np.array(named.mention.keys, dtype=np.int32)
        codes = self.nodes.types(keys)
        found = []
        for code in np.unique(codes):
            mine = keys[codes == code][:_MOST_IDS]
            label = self.schema.node_types[int(code)].name
            found.append(Entity(named.mention.meant or named.mention.text, label, tuple(self.nodes.ids(mine.tolist()))))
        return sorted(found, key=lambda entity: -len(entity.ids))

    def types(self, plan: Plan) -> dict[str, frozenset[str]]:
        """Return the node types that each variable of a plan can take."""
        return possible_types(plan, self.schema)

    def walks(self, entity: Entity, labels: frozenset[str]) -> Iterator[tuple[Leg, ...]]:
        """Yield the walks of up to three hops from an entity to nodes of these types, the shorter ones first.

        Longer walks are left out where a shorter one exists, because they seldom say what a few words mean.
        """
        fewest = 0
        for branch in self._branches(entity):
            steps = branch.path.steps
            names = [self.schema.node_types[step.to_type].name for step in steps]
            if names[-1] not in labels or (fewest and len(steps) > max(2, fewest)):
                continue
            fewest = fewest or len(steps)
            yield tuple(
                Leg(self.schema.relations[step.relation].name, step.direction, name)
                for step, name in zip(steps, names, strict=True)
            )

    def _branches(self, entity: Entity) -> list[Branch]:
        known = self._walks.get(entity)
        if known is None:
            keys = tuple(key for key in self.nodes.keys(entity.ids) if key is not None)
            start = Start(0, self.schema.type_codes[entity.label], keys)
            enumerator = Enumerator(self.adjacency, self.nodes, self.knowledge.shape, max_hops=_MAX_HOPS)
            known = self._walks[entity] = enumerator.branches([start], self.limit) if keys else []
        return known

    def onward(self, labels: frozenset[str]) -> Iterator[tuple[Leg, ...]]:
        """Yield the walks of one or two hops that the schema allows from nodes of these types."""
        for near in sorted(labels):
            for leg in self._legs(near):
                yield (leg,)
                for second in self._legs(leg.to_label):
                    if second.to_label != near and (second.relation, second.to_label) != (leg.relation, near):
                        yield leg, second

    def _legs(self, near: str) -> Iterator[Leg]:
        for kind in self.schema.relation_types:
            yield from (Leg(kind.relation, way, far) for start, far, way in kind.ways if start == near)

    def fits(self, plan: Plan) -> bool:
        """Whether a plan is one that the engines can execute over this schema."""
        try:
            Plan.parse(plan.to_json(), self.schema)
        except PlanInvalid:
            return False
        return all(self.types(plan).values())

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
        """Return the ids of the nodes that an anchor brings, or that its text names."""
        keys = [] if anchor.ids else list(self.mentions.lookup(anchor.text))
        if anchor.label != ANY and keys:
            code = self.schema.type_codes[anchor.label]
            keys = [key for key, kind in zip(keys, self.nodes.types(keys), strict=True) if kind == code]
        return anchor.ids or self.nodes.ids(keys)
