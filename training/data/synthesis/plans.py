"""The plan that a draft stands for, so that what a planner makes of a question can be compared with what was meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from search.domain.graph import Schema
from search.domain.plan import Anchor, Exclusion, FieldOf, Filter, Hop, Plan, Target
from training.data.synthesis.parts import MadeDraft, MadeWay

Ids = Callable[[Sequence[int]], Sequence[str]]
"""Keys → ids of nodes."""


@dataclass
class Planned:
    """Writes the parts of one plan; its variables are numbered in the order in which they are first used."""

    schema: Schema
    ids: Ids
    _variables: int = field(default=0, init=False)

    def plan(self, draft: MadeDraft) -> Plan:
        """Return the plan of a draft. What a draft says of texts becomes the text that is left over."""
        ways = [self._way(way) for way in draft.ways]
        excluded = [self._way(way) for way in draft.exclusions]
        anchors = [anchor for own, _ in ways for anchor in own]
        filters: list[Filter] = list(draft.filters)
        if (told := draft.compared) is not None:
            var = self._named()
            anchors.append(self._anchor(var, told.name, told.node_type, told.keys))
            filters.append(Filter("T", told.field, told.op, FieldOf(var, told.field)))
        passages = [one.said for one in (draft.passage, *(way.passage for way in draft.ways)) if one is not None]
        return Plan(
            anchors=tuple(anchors),
            hops=tuple(hop for _, own in ways for hop in own),
            target=Target("T", (self.schema.node_types[draft.answer_type].name,), " ".join(passages)),
            filters=tuple(filters),
            exclude=tuple(Exclusion(tuple(own), tuple(hops)) for own, hops in excluded),
            order=draft.order,
            ask=draft.ask,
        )

    def _way(self, way: MadeWay) -> tuple[list[Anchor], list[Hop]]:
        """Return the anchor at the end of a way, if it has one, and its hops, beginning at T."""
        hops, near = list[Hop](), "T"
        for step in way.steps:
            far = self._named()
            direction = step.directions[0] if len(step.directions) == 1 else None
            kind = self.schema.node_types[step.far_type].name
            hops.append(Hop(near, self.schema.relations[step.relation].name, far, kind, direction))
            near = far
        if not way.ends:
            return [], hops
        return [self._anchor(near, way.name, way.steps[-1].far_type, way.ends)], hops

    def _anchor(self, var: str, name: str, kind: int, keys: Sequence[int]) -> Anchor:
        return Anchor(var, name, self.schema.node_types[kind].name, ids=tuple(self.ids(keys)))

    def _named(self) -> str:
        self._variables += 1
        return f"x{self._variables}"


def plan_of(draft: MadeDraft, schema: Schema, ids: Ids) -> Plan:
    """Return the plan that a draft stands for."""
    return Planned(schema, ids).plan(draft)
