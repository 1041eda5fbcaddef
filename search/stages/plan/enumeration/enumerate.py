"""Every plan that the data has for the mentions of a question (docs/planning.md, point 3).

Metapaths of up to three hops are walked from each mention's nodes on the adjacency, set at a time; two or three of them
that end at the same nodes are joined at T. What finds nothing is not a plan. Work is counted before it is done, and the
last of the hops, which are the most, are walked only for plans that are worth it (`settle`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Direction
from search.domain.trace import Limit
from search.interfaces import Adjacency, Keys, NodeStore
from search.stages.plan.knowledge.shape import Metapath, SchemaStep, Shape

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

    `found` is sorted; of a branch that is not `walked` it holds the nodes before the last hop, which has `size` edges;
    else `size` is the number of nodes found and `types` their type codes, the role's own first. `whole` is False where
    a limit kept the walk from being finished: `found` is then a part.
    """

    start: Start
    path: Metapath
    found: Keys
    types: tuple[int, ...]
    size: int
    walked: bool = True
    whole: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class PlanCandidate:
    """A plan in the making: one branch, or several of different mentions that meet at T in `size` nodes."""

    branches: tuple[Branch, ...]
    mentions: tuple[int, ...]
    paths: tuple[Metapath, ...]
    types: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, branches: tuple[Branch, ...], types: tuple[int, ...], size: int) -> PlanCandidate:
        """Return the candidate that these branches make."""
        mentions = tuple(branch.start.mention for branch in branches)
        return cls(branches, mentions, tuple(branch.path for branch in branches), types, size)


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
    `question_edges` those of all steps of a question, `most_pairs` the joins that are tried.
    """

    adjacency: Adjacency
    nodes: NodeStore
    shape: Shape
    max_hops: int = 3
    step_edges: int = 300_000
    question_edges: int = 1_000_000
    most_pairs: int = 2_000

    def branches(self, starts: Sequence[Start], limit: Limit) -> list[Branch]:
        """Return every walk from these starts, shorter ones first.

        Those of `max_hops` hops are not walked to their end; see `settle`.
        """
        budget = _Budget(self.question_edges)
        layer = [self._standing(start) for start in starts]
        known: list[Branch] = []
        for hops in range(1, self.max_hops + 1):
            following: list[Branch] = []
            for branch in layer:
                limit.check("plan")
                walk = self._walked if hops < self.max_hops or self.max_hops == 1 else self._open
                for path, relation, direction, edges in self._onward(branch):
                    following += walk(branch, path, relation, direction, edges, budget)
            known += following
            layer = following
        return known

    def joins(self, branches: Sequence[Branch], overlap: Sequence[frozenset[int]], limit: Limit) -> list[PlanCandidate]:
        """Return joins of two branches (up to `max_hops` hops together) and of three (one hop each) at T.

        `overlap[m]` holds the mentions that cannot be joined with mention m: readings of one stretch, or of one node.
        """
        short = [branch for branch in branches if branch.walked and branch.whole]
        pairs: list[tuple[PlanCandidate, Keys]] = []
        tried = 0
        for pair in combinations(short, 2):
            if sum(len(branch.path.steps) for branch in pair) > max(2, self.max_hops) or not _joinable(pair, overlap):
                continue
            tried += 1
            if tried > self.most_pairs:
                break
            pairs += _met(pair, pair[0].found)
        limit.check("plan")
        single = [branch for branch in short if len(branch.path.steps) == 1]
        triples = [
            candidate
            for pair_found, found in pairs
            if all(len(path.steps) == 1 for path in pair_found.paths)
            for third in single
            if third.start.mention > pair_found.mentions[-1] and _joinable((*pair_found.branches, third), overlap)
            for candidate, _ in _met((*pair_found.branches, third), found)
        ]
        return [candidate for candidate, _ in pairs] + triples

    def settle(self, candidate: PlanCandidate) -> PlanCandidate | None:
        """Walk a candidate to its end as an engine will; None when it finds nothing.

        No node but an anchor's own may be one that any anchor stands for, which branches by themselves cannot know.
        """
        first, *others = candidate.branches
        if not others and first.walked:
            return candidate
        found = self.found(candidate)
        if not len(found):
            return None
        role = candidate.paths[0].end
        types = sorted(_distinct(self.nodes.types(found)), key=lambda code: (code != role, code))
        return PlanCandidate.of(candidate.branches, tuple(types), len(found))

    def found(self, candidate: PlanCandidate) -> Keys:
        """Return the nodes that a candidate finds as an engine will, sorted; a part where a step is too large."""
        first, *others = candidate.branches
        if others:
            anchors = [key for branch in candidate.branches for key in branch.start.keys]
            found = self._walk(first, anchors)
            for other in others:
                found = _common(found, self._walk(other, anchors))
            return found
        if first.walked:
            return first.found
        keys = first.found if first.whole else first.found[: self._few(len(first.found), first.size)]
        return self._step(keys, first.path.steps[-1], first.start.keys)

    def _walk(self, branch: Branch, anchors: Sequence[int]) -> Keys:
        keys = np.array(sorted(branch.start.keys), dtype=np.int32)
        for step in branch.path.steps:
            keys = self._step(keys, step, anchors)
        return keys

    def _step(self, keys: Keys, step: SchemaStep, anchors: Sequence[int]) -> Keys:
        """Return where one step leads from these nodes, the anchors' own left out."""
        found = _without(self.adjacency.neighbours(keys, step.relation, step.direction), anchors)
        far: Direction = "in" if step.direction == "out" else "out"
        roles = self.shape.roles(step.relation, far)[self.nodes.types(found)]
        return np.compress(roles == step.to_type, found)

    def _standing(self, start: Start) -> Branch:
        keys = np.array(sorted(start.keys), dtype=np.int32)
        return Branch(start, Metapath(start.node_type), keys, (start.node_type,), len(keys))

    def _onward(self, branch: Branch) -> Iterator[tuple[Metapath, int, Direction, int]]:
        """Yield where a walk can go on: its path in the role that the next hop needs, relation, direction, edges."""
        for (relation, direction), edges in self.adjacency.counts(branch.found).items():
            path = branch.path
            if not path.steps:
                path = Metapath(self.shape.role(relation, direction, path.start))
            if self.shape.allows(path.end, relation, direction):
                yield path, relation, direction, edges

    def _walked(
        self, branch: Branch, path: Metapath, relation: int, direction: Direction, edges: int, budget: _Budget
    ) -> Iterator[Branch]:
        whole = edges <= self.step_edges and budget.take(edges)
        keys = branch.found if whole else branch.found[: self._few(len(branch.found), edges)]
        return self._landed(branch, path, keys, relation, direction, whole)

    def _open(
        self, branch: Branch, path: Metapath, relation: int, direction: Direction, edges: int, budget: _Budget
    ) -> Iterator[Branch]:
        """Yield the walks one hop longer without walking it, by what the schema says of that hop."""
        del budget
        whole = edges <= self.step_edges
        for role in sorted(self.shape.far_ends(path.end, relation, direction)):
            longer = path.then(SchemaStep(relation, direction, role))
            yield Branch(branch.start, longer, branch.found, (role,), edges, walked=False, whole=whole)

    def _few(self, keys: int, edges: int) -> int:
        """Return how many of these nodes can be walked from at once where all of them have too many edges."""
        return max(1, keys * _SAMPLED // edges)

    def _landed(
        self, branch: Branch, path: Metapath, keys: Keys, relation: int, direction: Direction, whole: bool
    ) -> Iterator[Branch]:
        """Split what a hop finds by the role that its nodes play; the nodes it started from are never found again."""
        found = _without(self.adjacency.neighbours(keys, relation, direction), branch.start.keys)
        if not len(found):
            return
        types = self.nodes.types(found)
        roles = self.shape.roles(relation, "in" if direction == "out" else "out")[types]
        for role in _distinct(roles):
            mine = roles == role
            part, codes = (found, types) if mine.all() else (found[mine], types[mine])
            ordered = tuple(sorted(_distinct(codes), key=lambda code: (code != role, code)))
            longer = path.then(SchemaStep(relation, direction, role))
            yield Branch(branch.start, longer, part, ordered, len(part), whole=whole and branch.whole)


def _distinct(codes: NDArray[np.int16]) -> list[int]:
    """Return the distinct type codes; most often there is but one."""
    if (codes == codes[0]).all():
        return [int(codes[0])]
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]


def _without(found: Keys, keys: Sequence[int]) -> Keys:
    """Return sorted keys without some of them."""
    if len(keys) == 1:
        at = int(np.searchsorted(found, keys[0]))
        return np.delete(found, at) if at < len(found) and found[at] == keys[0] else found
    return found[~np.isin(found, keys)]


def _common(one: Keys, other: Keys) -> Keys:
    """Return the keys that two sorted arrays share: those of the smaller are looked up in the larger."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    at = np.minimum(np.searchsorted(large, small), len(large) - 1)
    return small[large[at] == small] if len(small) else small


def _joinable(branches: Sequence[Branch], overlap: Sequence[frozenset[int]]) -> bool:
    """Whether the last of these branches ends where the others do and starts from another stretch of the question."""
    *others, last = branches
    return all(
        other.path.end == last.path.end
        and other.start.mention != last.start.mention
        and last.start.mention not in overlap[other.start.mention]
        for other in others
    )


def _met(branches: tuple[Branch, ...], found: Keys) -> list[tuple[PlanCandidate, Keys]]:
    """Return the join of branches at the nodes that all of them reach, `found` those of all but the last; or none."""
    meeting = _common(found, branches[-1].found)
    if not len(meeting):
        return []
    meeting = _without(meeting, [key for branch in branches for key in branch.start.keys])
    if not len(meeting):
        return []
    types = tuple(code for code in branches[-1].types if all(code in other.types for other in branches[:-1]))
    return [(PlanCandidate.of(branches, types or branches[-1].types, len(meeting)), meeting)]
