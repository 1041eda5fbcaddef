"""Enumeration of all plans for the mentions of a question that find nodes (docs/planning.md, point 3).

From the nodes of each mention, metapaths of up to three hops are walked on the adjacency, for a set of nodes at once.
Two or three walks that end at the same nodes are joined at T. A walk or join that finds no node is not a plan. The
edges of a step are counted before they are read. Most of the work is in the last hop of the longest walks. This hop is
walked only for the plans that are worth it (`settle`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import OPPOSITE, Direction
from search.domain.trace import Limit
from search.interfaces import Adjacency, Keys, NodeStore
from search.stages.plan.knowledge.shape import Metapath, SchemaStep, Shape

_SAME_WAY = 2
"""Most hops of each of two branches that walk the same way."""
_SAMPLED = 1_000
"""Approximate number of edges to read from a step that is too large to read completely. They are enough to see whether
the step finds nodes, and of which types."""


@dataclass(frozen=True, slots=True)
class Start:
    """The nodes of one type that one mention names, where walks begin. `mention` is its position in their list."""

    mention: int
    node_type: int
    keys: tuple[int, ...]


# A question over many relations has a thousand of these two. Nobody changes them, but a frozen dataclass takes several
# times as long to make.
@dataclass(slots=True, eq=False)
class Branch:
    """A walk from one start, with the nodes at its end.

    If `walked`, `found` holds the nodes at the end, `size` is their number and `types` are their type codes, beginning
    with the type of the role. If not `walked`, `found` holds the nodes before the last hop, `size` is the number of
    edges of that hop and `types` holds its role. `found` is sorted. `whole` is False if a step had too many edges to be
    read completely; a walked branch then holds only some of its nodes.
    """

    start: Start
    path: Metapath
    found: Keys
    types: tuple[int, ...]
    size: int
    walked: bool = True
    whole: bool = True


@dataclass(slots=True, eq=False)
class PlanCandidate:
    """A possible plan: one branch, or several branches from different mentions that share `size` nodes at T."""

    branches: tuple[Branch, ...]
    mentions: tuple[int, ...]
    paths: tuple[Metapath, ...]
    types: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, branches: tuple[Branch, ...], types: tuple[int, ...], size: int) -> PlanCandidate:
        """Return the candidate made of these branches."""
        if len(branches) == 1:
            return cls(branches, (branches[0].start.mention,), (branches[0].path,), types, size)
        mentions = tuple(branch.start.mention for branch in branches)
        return cls(branches, mentions, tuple(branch.path for branch in branches), types, size)


@dataclass
class _Budget:
    """The number of edges that may still be read for one question."""

    left: int

    def take(self, edges: int) -> bool:
        if edges > self.left:
            return False
        self.left -= edges
        return True


@dataclass(frozen=True)
class Enumerator:
    """Enumerates walks in the graph and joins them.

    `max_hops` is the largest number of hops of a walk, and of both walks of a join together (there at least 2).
    `step_edges` is the largest number of edges that one step reads, `question_edges` that of all steps of a question.
    `most_pairs` is the largest number of joins of two branches that are tried.
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

        The last hop of a walk with `max_hops` hops (if more than one) is not walked here; see `settle`.
        """
        budget = _Budget(self.question_edges)
        layer = [self._standing(start) for start in starts]
        known: list[Branch] = []
        for hops in range(1, self.max_hops + 1):
            following: list[Branch] = []
            walk = self._walked if hops < self.max_hops or self.max_hops == 1 else self._open
            ways = self.adjacency.counts_of([branch.found for branch in layer])
            for branch, counts in zip(layer, ways, strict=True):
                limit.check("plan")
                for path, relation, direction, edges in self._onward(branch, counts):
                    following += walk(branch, path, relation, direction, edges, budget)
            known += following
            layer = following
        return known

    def joins(self, branches: Sequence[Branch], overlap: Sequence[frozenset[int]], limit: Limit) -> list[PlanCandidate]:
        """Return joins of two branches (up to `max_hops` hops together) and of three (one hop each) at T.

        Two branches that walk the same way may be longer: *authors who wrote on both A and B*.
        `overlap[m]` holds the mentions that cannot be joined with mention m: they share words or a node with it.
        """
        short = [branch for branch in branches if branch.walked and branch.whole]
        pairs = [
            one for pair in islice(self._pairs(short, overlap), self.most_pairs) for one in _met(pair, pair[0].found)
        ]
        single = _by_end(branch for branch in short if len(branch.path.steps) == 1)
        triples: list[PlanCandidate] = []
        for pair_found, found in pairs:
            limit.check("plan")
            if all(len(path.steps) == 1 for path in pair_found.paths):
                triples += [
                    candidate
                    for third in single.get(pair_found.paths[0].end, ())
                    if third.start.mention > pair_found.mentions[-1]
                    and _joinable((*pair_found.branches, third), overlap)
                    for candidate, _ in _met((*pair_found.branches, third), found)
                ]
        return [candidate for candidate, _ in pairs] + triples

    def _pairs(self, branches: Sequence[Branch], overlap: Sequence[frozenset[int]]) -> Iterator[tuple[Branch, Branch]]:
        """Yield each pair that may be joined, in the order of the branches; only branches to one type are compared."""
        most = max(2, self.max_hops)
        later = {end: deque(alike) for end, alike in _by_end(branches).items()}
        for first in branches:
            alike = later[first.path.end]
            alike.popleft()
            hops, mention = len(first.path.steps), first.start.mention
            apart = overlap[mention]
            for second in alike:
                other = second.start.mention
                short = hops + len(second.path.steps) <= most or same_way(first, second)
                if short and other != mention and other not in apart:
                    yield first, second

    def settle(self, candidate: PlanCandidate) -> PlanCandidate | None:
        """Return the candidate with the types and number of the nodes that an engine will find; None if there are none.

        The walks are repeated because no variable other than an anchor's own may take a node that any anchor of the
        candidate is bound to. A single branch knows only the nodes of its own anchor.
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
        """Return the nodes that an engine will find for a candidate, sorted; only some if a step is too large."""
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
        """Return the nodes that one step reaches from these nodes, without the nodes of anchors."""
        found = _without(self.adjacency.neighbours(keys, step.relation, step.direction), anchors)
        far: Direction = OPPOSITE[step.direction]
        roles = self.shape.roles(step.relation, far)[self.nodes.types(found)]
        return np.compress(roles == step.to_type, found)

    def _standing(self, start: Start) -> Branch:
        keys = np.array(sorted(start.keys), dtype=np.int32)
        return Branch(start, Metapath(start.node_type), keys, (start.node_type,), len(keys))

    def _onward(
        self, branch: Branch, counts: Mapping[tuple[int, Direction], int]
    ) -> Iterator[tuple[Metapath, int, Direction, int]]:
        """Yield each possible next hop of a walk: the path so far, relation, direction, and the number of edges.

        `counts` holds the edges of the branch's last nodes.
        A path without steps is given the role that its start plays in this hop.
        """
        for (relation, direction), edges in counts.items():
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
        """Yield the walks with one more hop that is not walked: the schema gives the types at its end."""
        del budget
        whole = edges <= self.step_edges
        for step in self.shape.hops(path.end, relation, direction):
            yield Branch(
                branch.start, path.then(step), branch.found, (step.to_type,), edges, walked=False, whole=whole
            )  # fmt: skip

    def _few(self, keys: int, edges: int) -> int:
        """Return how many of `keys` nodes with `edges` edges have about `_SAMPLED` edges together; at least 1."""
        return max(1, keys * _SAMPLED // edges)

    def _landed(
        self, branch: Branch, path: Metapath, keys: Keys, relation: int, direction: Direction, whole: bool
    ) -> Iterator[Branch]:
        """Yield one branch for each role of the nodes that a hop finds. The nodes of the start are left out."""
        found = _without(self.adjacency.neighbours(keys, relation, direction), branch.start.keys)
        if not len(found):
            return
        types = self.nodes.types(found)
        roles = self.shape.roles(relation, OPPOSITE[direction])[types]
        for role in _distinct(roles):
            mine = roles == role
            part, codes = (found, types) if mine.all() else (found[mine], types[mine])
            ordered = tuple(sorted(_distinct(codes), key=lambda code: (code != role, code)))
            longer = path.then(SchemaStep(relation, direction, role))
            yield Branch(branch.start, longer, part, ordered, len(part), whole=whole and branch.whole)


def same_way(one: Branch, other: Branch) -> bool:
    """Whether two branches walk the same way of at most two hops: what is said of one name is said of the other."""
    return len(one.path.steps) <= _SAME_WAY and one.path == other.path


def _distinct(codes: NDArray[np.int16]) -> list[int]:
    """Return the distinct type codes in ascending order; the common case of a single code is fast."""
    if (codes == codes[0]).all():
        return [int(codes[0])]
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]


def _without(found: Keys, keys: Sequence[int]) -> Keys:
    """Return the sorted array `found`, which holds each key once, without `keys`."""
    if len(keys) == 1:
        at = int(np.searchsorted(found, keys[0]))
        return np.delete(found, at) if at < len(found) and found[at] == keys[0] else found
    if not len(found):
        return found
    those = np.array(keys, dtype=found.dtype)
    places = np.minimum(np.searchsorted(found, those), len(found) - 1)
    places = places[found[places] == those]
    return np.delete(found, places) if len(places) else found


def _common(one: Keys, other: Keys) -> Keys:
    """Return the keys that two sorted arrays share; the keys of the smaller array are looked up in the larger one."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    at = np.minimum(np.searchsorted(large, small), len(large) - 1)
    return small[large[at] == small] if len(small) else small


def _by_end(branches: Iterable[Branch]) -> dict[int, list[Branch]]:
    """Return type → the branches that end at it, in their order."""
    found: dict[int, list[Branch]] = {}
    for branch in branches:
        found.setdefault(branch.path.end, []).append(branch)
    return found


def _joinable(branches: Sequence[Branch], overlap: Sequence[frozenset[int]]) -> bool:
    """Whether the last branch ends at the same type as the others, and its mention can be joined with theirs."""
    *others, last = branches
    return all(
        other.path.end == last.path.end
        and other.start.mention != last.start.mention
        and last.start.mention not in overlap[other.start.mention]
        for other in others
    )


def _met(branches: tuple[Branch, ...], found: Keys) -> list[tuple[PlanCandidate, Keys]]:
    """Return one pair, the join of the branches and the nodes that all of them reach; an empty list if there are none.

    `found` holds the nodes that all branches but the last reach.
    """
    meeting = _common(found, branches[-1].found)
    if not len(meeting):
        return []
    meeting = _without(meeting, [key for branch in branches for key in branch.start.keys])
    if not len(meeting):
        return []
    types = tuple(code for code in branches[-1].types if all(code in other.types for other in branches[:-1]))
    return [(PlanCandidate.of(branches, types or branches[-1].types, len(meeting)), meeting)]
