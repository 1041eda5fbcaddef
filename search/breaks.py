"""Paths that show why a result does not meet an exclusion of its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from search.domain.conditions import Conditions
from search.domain.errors import StageError
from search.domain.evidence import ExclusionEvidence, Path
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Target
from search.domain.plan.routes import routes
from search.domain.trace import Limit
from search.interfaces import GraphStore, NodeStore


@dataclass
class Breaks:
    """Looks up a match of each exclusion that a result does not meet; `problems` collects what could not be looked up.

    The path leads from the anchor of the pattern to the node that the exclusion is about. If the pattern has no anchor,
    it leads from that node to the far end of the pattern.
    """

    graph: GraphStore
    nodes: NodeStore
    linked: LinkedPlan
    limit: Limit
    problems: list[str]

    def of(self, key: int, held: Conditions, paths: Sequence[Path]) -> tuple[ExclusionEvidence, ...]:
        """Return the evidence of each exclusion for a result, given the paths of its anchors."""
        found = []
        for index, status in enumerate(held.exclude):
            start = self._start(index, key, paths) if status == "not_met" else None
            found.append(ExclusionEvidence(status, () if start is None else self._breaking(index, start)))
        return tuple(found)

    def _start(self, index: int, key: int, paths: Sequence[Path]) -> int | None:
        """Return the node that an exclusion is about: the result itself, or the one that its paths show."""
        var = self.linked.excluded(index).plan.target.var
        if var == self.linked.plan.target.var:
            return key
        return next((step.node.key for path in paths for step in path.nodes if step.var == var), None)

    def _breaking(self, index: int, start: int) -> tuple[Path, ...]:
        pattern = self.linked.excluded(index)
        try:
            if pattern.plan.anchors:
                found = self.graph.paths(pattern, [start], self.limit).get(start, [])
                return tuple(path for path in found[0] if path.edges) if found else ()
            turned = self._turned(pattern, start)
            ends = self.graph.execute(turned, self.limit, rows=1).candidates
            if not ends:
                return ()
            return self.graph.paths(turned, [ends[0].key], self.limit)[ends[0].key][0]
        except StageError as error:
            self.problems.append(f"Paths could not be looked up: {error.reason}.")
            return ()

    def _turned(self, pattern: LinkedPlan, start: int) -> LinkedPlan:
        """Return a pattern without anchors as a plan from the given node to the far end of the pattern."""
        plan = pattern.plan
        reached = routes([(hop.source, hop.to_var) for hop in plan.hops], plan.target.var)
        far = max(reached, key=lambda var: len(reached[var]))
        [node] = self.nodes.references([start])
        var = plan.target.var
        turned = replace(plan, anchors=(Anchor(var, node.name),), target=Target(far))
        return replace(pattern, plan=turned, bindings=(Binding(var, node, 1.0),))
