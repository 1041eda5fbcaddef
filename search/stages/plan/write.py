"""Convert candidate plans to plans of the domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.graph import ANY
from search.domain.plan import Anchor, Hop, Plan, Risk, Target
from search.interfaces import NodeStore
from search.language.names import Named
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate
from search.stages.plan.knowledge.shape import SchemaStep, Shape

TARGET = "T"
"""Name of the target variable."""


@dataclass(frozen=True)
class Writer:
    """Writes candidates as plans, with variables, labels and directions."""

    nodes: NodeStore
    shape: Shape

    def plan(self, candidate: PlanCandidate, names: Sequence[Named], residual: str, risk: Risk) -> Plan:
        """Return the plan of a candidate; each branch is an anchor with its chain of hops to T."""
        branches = list(enumerate(candidate.branches, 1))
        anchors = tuple(self._anchor(f"A{at}", branch, names[branch.start.mention]) for at, branch in branches)
        hops = [hop for at, branch in branches for hop in self._hops(at, branch, candidate.types)]
        labels = tuple(self.shape.schema.node_types[code].name for code in candidate.types)
        return Plan(anchors, tuple(hops), Target(TARGET, labels, residual), risk_level=risk)

    def _anchor(self, var: str, branch: Branch, name: Named) -> Anchor:
        label = self.shape.schema.node_types[branch.start.node_type].name
        return Anchor(var, name.mention.text, label, "name", tuple(self.nodes.ids(branch.start.keys)))

    def _hops(self, at: int, branch: Branch, types: Sequence[int]) -> list[Hop]:
        last = len(branch.path.steps)
        variables = [f"A{at}", *(f"x{at}{position}" for position in range(1, last)), TARGET]
        return [
            Hop(
                source=variables[position],
                rel=self.shape.schema.relations[step.relation].name,
                to_var=variables[position + 1],
                to_label=self._label(step, position + 1 == last, types),
                direction=None if self.shape.schema.relations[step.relation].mutual else step.direction,
            )
            for position, step in enumerate(branch.path.steps)
        ]

    def _label(self, step: SchemaStep, ends: bool, types: Sequence[int]) -> str:
        """Return the label at the far end of a hop: its type, or `ANY` where nodes of other types may stand there."""
        open_end = len(types) > 1 if ends else self.shape.mixed(step)
        return ANY if open_end else self.shape.schema.node_types[types[0] if ends else step.to_type].name
