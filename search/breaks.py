"""Paths that show why a result does not meet an exclusion of its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def of(
        self, shown: Mapping[int, Conditions], paths: Mapping[int, Sequence[Path]]
    ) -> dict[int, tuple[ExclusionEvidence, ...]]:
        """Return the evidence of each exclusion for every result, given the paths of its anchors.

        The results that do not meet an exclusion are looked up together.
        """
        found: dict[int, list[ExclusionEvidence]] = {key: [] for key in shown}
        for index in range(len(self.linked.plan.exclude)):
            status = {key: held.exclude[index] for key, held in shown.items() if held.exclude}
            broken = [key for key, one in status.items() if one == "not_met"]
            starts = {key: start for key in broken if (start := self._start(index, key, paths[key])) is not None}
            breaking = self._breaking(index, list(dict.fromkeys(starts.values()))) if starts else {}
            for key, one in status.items():
                found[key].append(ExclusionEvidence(one, breaking.get(starts[key], ()) if key in starts else ()))
        return {key: tuple(several) for key, several in found.items()}

    def _start(self, index: int, key: int, paths: Sequence[Path]) -> int | None:
        """Return the node that an exclusion is about: the result itself, or the one that its paths show."""
        var = self.linked.excluded(index).plan.target.var
        if var == self.linked.plan.target.var:
            return key
        return next((step.node.key for path in paths for step in path.nodes if step.var == var), None)

    def _breaking(self, index: int, starts: Sequence[int]) -> dict[int, tuple[Path, ...]]:
        """Return the paths of a match of an exclusion's pattern for each of some nodes that it is about."""
        pattern = self.linked.excluded(index)
        try:
            if pattern.plan.anchors:
                found = self.graph.paths(pattern, starts, self.limit)
                return {start: tuple(path for path in matches[0] if path.edges) for start, matches in found.items()}
            return {start: self._onwards(pattern, start) for start in starts}
        except StageError as error:
            self.problems.append(f"Paths could not be looked up: {error.reason}.")
            return {}

    def _onwards(self, pattern: LinkedPlan, start: int) -> tuple[Path, ...]:
        """Return the path of a match of a pattern without anchors, from the node that it is about to its far end."""
        turned = self._turned(pattern, start)
        ends = self.graph.execute(turned, self.limit, rows=1).candidates
        return self.graph.paths(turned, [ends[0].key], self.limit)[ends[0].key][0] if ends else ()

    def _turned(self, pattern: LinkedPlan, start: int) -> LinkedPlan:
        """Return a pattern without anchors as a plan from the given node to the far end of the pattern."""
        plan = pattern.plan
        reached = routes([(hop.source, hop.to_var) for hop in plan.hops], plan.target.var)
        far = max(reached, key=lambda var: len(reached[var]))
        [node] = self.nodes.references([start])
        var = plan.target.var
        turned = replace(plan, anchors=(Anchor(var, node.name),), target=Target(far))
        return replace(pattern, plan=turned, bindings=(Binding(var, node, 1.0),))
