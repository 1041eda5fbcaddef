"""The demo bases with planners as searches have them, over the vectors of any encoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from search.domain.plan import Plan, ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.vector_kinds import NAME
from search.interfaces import Encoder, GraphStore, VectorIndex
from search.stages.link import Link
from search.stages.plan import Planner
from tests.fakes import MemoryVectors
from tests.search.stages.plan.demo_planners import planned
from tests.search.stages.plan.follow_up.demos import Demo


@dataclass(frozen=True)
class Base:
    """A demo base with its planner, and what binds the anchors of its plans."""

    demo: Demo
    planner: Planner
    link: Link

    @classmethod
    def of(cls, name: str, folder: Path, encoder: Encoder) -> Base:
        """Build the indexes of a demo base in an empty folder."""
        base = planned(name, folder)
        nodes = base.demo.graph.nodes
        rows = encoder.encode([node.name for node in nodes])
        vectors = cast(
            VectorIndex, MemoryVectors({NAME: {node.key: row for node, row in zip(nodes, rows, strict=True)}})
        )
        planner = replace(base.planner, encoder=encoder, vectors=vectors, columns=base.demo.stage.columns)
        graph = cast(GraphStore, base.demo.stage.graph)
        return cls(base.demo, planner, Link(encoder, vectors, planner.nodes, graph=graph))

    def best(self, text: str) -> ScoredPlan:
        """Return the first plan of a question."""
        return self.planner(Question(text), Limit())[0]

    def found(self, plan: Plan) -> list[str]:
        """Return the names of what a plan finds, the first answer first; nothing if it leaves all to texts."""
        [linked] = self.link([ScoredPlan(plan, "user", 1.0)], Limit())
        if not linked.is_executable:
            return []
        found = self.demo.stage.graph.execute(linked, Limit()).candidates
        return [self.demo.graph.nodes[candidate.key].name for candidate in found]
