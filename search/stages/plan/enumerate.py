"""Every plan that the data has for the mentions of a question (METHODS, section 9, point 3).

Metapaths of up to three hops are walked from each mention's nodes on the adjacency, set at a time; two or three of them
that end at the same nodes are joined at T. What finds nothing is not a plan. Work is counted before it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from search.domain.graph import Direction
from search.domain.trace import Limit
from search.interfaces import Adjacency, Keys, NodeStore
from search.stages.plan.shape import Metapath, Shape, Step

_SAMPLED = 1_000
"""Edges read of a step that is too large to be read whole: enough to know that it finds something, and of what type."""


@dataclass(frozen=True, slots=True)
class Start:
    """Nodes of one type that one mention names: where walks begin. `mention` is its place in the list of mentions."""

    mention: int
    node_type: int
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A walk from one start, with the nodes it ends at.

    `found` is sorted; `types` are the type codes among `found`, the role's own first. `whole` is False where a limit
    kept the walk from being finished: `found` is then a part.
    """

    start: Start
    path: Metapath
    found: Keys
    types: tuple[int, ...]
    whole: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A plan in the making: one branch, or several of different mentions that meet at T."""

    branches: tuple[Branch, ...]
    found: Keys
    types: tuple[int, ...]

    @property
    def mentions(self) -> tuple[int, ...]:
        """The mentions it starts from."""
        return tuple(branch.start.mention for branch in self.branches)

    @property
    def paths(self) -> tuple[Metapath, ...]:
        """Its walks over node types."""
        return tuple(branch.path for branch in self.branches)


@dataclass
class _Budget:
    """Edges that one question may still read."""

    left: int

    def take(self, edges: int) -> bool:
        if edges > self.left:
            return False
        self.left -= edges
        return True


@dataclass(frozen=True)
class Enumerator:
    """Walks the graph.

    `max_hops` bounds a walk and the sum of hops of a join of two, `step_edges` the edges that one step reads,
    `question_edges` those of all steps of a question.
    """

    adjacency: Adjacency
    nodes: NodeStore
    shape: Shape
    max_hops: int = 3
    step_edges: int = 50_000
    question_edges: int = 1_000_000

    def branches(self, starts: Sequence[Start], limit: Limit) -> list[Branch]:
        """Return every walk from these starts that finds something, shorter ones first."""
        budget = _Budget(self.question_edges)
        layer = [self._standing(start) for start in starts]
        walked: list[Branch] = []
        for _ in range(self.max_hops):
            following: list[Branch] = []
            for branch in layer:
                limit.check("plan")
                following += self._extended(branch, budget)
            walked += following
            layer = [branch for branch in following if branch.whole]
        return walked

    def joins(self, branches: Sequence[Branch], overlap: Sequence[frozenset[int]], limit: Limit) -> list[Candidate]:
        """Return joins of two branches (up to `max_hops` hops together) and of three (one hop each) at T.

        `overlap[m]` holds the mentions that share words with mention m: they are readings of one stretch, never joined.
        """
        short = [branch for branch in branches if len(branch.path.steps) < self.max_hops and branch.whole]
        pairs = [
            joined
            for one, other in combinations(short, 2)
            if len(one.path.steps) + len(other.path.steps) <= self.max_hops
            and (joined := _joined((one, other), overlap)) is not None
        ]
        limit.check("plan")
        single = [branch for branch in short if len(branch.path.steps) == 1]
        triples = [
            joined
            for pair in pairs
            if all(len(branch.path.steps) == 1 for branch in pair.branches)
            for third in single
            if third.start.mention > pair.mentions[-1]
            and (joined := _joined((*pair.branches, third), overlap, pair.found)) is not None
        ]
        return pairs + triples

    def _standing(self, start: Start) -> Branch:
        keys = np.array(sorted(start.keys), dtype=np.int32)
        return Branch(start, Metapath(start.node_type), keys, (start.node_type,))

    def _extended(self, branch: Branch, budget: _Budget) -> Iterator[Branch]:
        """Yield the walks one hop longer."""
        first = not branch.path.steps
        for (relation, direction), edges in self.adjacency.counts(branch.found).items():
            role = self.shape.role(relation, direction, branch.path.end) if first else branch.path.end
            if not self.shape.allows(role, relation, direction):
                continue
            whole = edges <= self.step_edges and budget.take(edges)
            keys = branch.found if whole else branch.found[: self._few(len(branch.found), edges)]
            path = Metapath(role) if first else branch.path
            yield from self._landed(branch, path, keys, relation, direction, whole)

    def _few(self, keys: int, edges: int) -> int:
        """Return how many of these nodes can be walked from at once where all of them have too many edges."""
        return max(1, keys * _SAMPLED // edges)

    def _landed(
        self, branch: Branch, path: Metapath, keys: Keys, relation: int, direction: Direction, whole: bool
    ) -> Iterator[Branch]:
        """Split what a hop finds by the role that its nodes play; the nodes it started from are never found again."""
        found = self.adjacency.neighbours(keys, relation, direction)
        found = found[~np.isin(found, branch.start.keys)]
        if not len(found):
            return
        types = self.nodes.types(found)
        present = [int(code) for code in np.unique(types)]
        groups: dict[int, list[int]] = {}
        for code in present:
            groups.setdefault(self.shape.far_role(relation, direction, code), []).append(code)
        for role, members in groups.items():
            part = found if len(groups) == 1 else found[np.isin(types, members)]
            ordered = tuple(sorted(members, key=lambda code: (code != role, code)))
            longer = path.then(Step(relation, direction, role))
            yield Branch(branch.start, longer, part, ordered, whole and branch.whole)


def _joined(
    branches: tuple[Branch, ...], overlap: Sequence[frozenset[int]], found: Keys | None = None
) -> Candidate | None:
    """Return the join of branches at the nodes that all of them reach, or None where they cannot meet."""
    *others, last = branches
    for other in others:
        if other.path.end != last.path.end or other.start.mention == last.start.mention:
            return None
        if last.start.mention in overlap[other.start.mention]:
            return None
    meeting = np.intersect1d(others[0].found if found is None else found, last.found, assume_unique=True)
    anchors = [key for branch in branches for key in branch.start.keys]
    meeting = meeting[~np.isin(meeting, anchors)]
    if not len(meeting):
        return None
    types = tuple(code for code in last.types if all(code in other.types for other in others))
    return Candidate(branches, meeting, types or last.types)
