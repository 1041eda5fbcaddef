"""Plans that find nothing: joins of names that no node meets (*tents made of copper*, where no tent is), and a walk in
the direction that was said, where a name has edges in the other one alone (docs/planning.md, point 3).

They say everything that the question says, so they are read as any other plan; that nothing meets them is an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, islice

import numpy as np

from search.domain.graph import OPPOSITE
from search.domain.trace import Limit
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate, same_way
from search.stages.plan.knowledge.shape import Metapath

MOST = 64
"""Most such joins of a question."""
_TOGETHER = 3
"""Most names of one join."""


def apart(
    candidates: Sequence[PlanCandidate],
    overlap: Sequence[frozenset[int]],
    max_hops: int,
    says: Callable[[Branch], bool],
    limit: Limit,
) -> list[PlanCandidate]:
    """Return joins at T of walks that share no node, with size 0; those of three names before those of two.

    `candidates` are all plans of the question. `overlap[m]` holds the names that cannot be joined with the name m.
    Only walks that `says` accepts are joined, up to `max_hops` hops together or all the same way, and none of them
    reads only a part of its nodes.

    Raises DeadlineExceeded or SearchCancelled.
    """
    walks = [
        one.branches[0]
        for one in candidates
        if len(one.branches) == 1 and one.branches[0].walked and one.branches[0].whole and says(one.branches[0])
    ]
    found = (_joins(walks, several, overlap, max_hops, limit) for several in range(_TOGETHER, 1, -1))
    return list(islice(chain.from_iterable(found), MOST))


def turned_round(candidate: PlanCandidate, candidates: Sequence[PlanCandidate]) -> PlanCandidate | None:
    """Return a walk of one hop in its other direction, with size 0; None if that finds something or is no such walk."""
    if len(candidate.branches) != 1 or len(candidate.paths[0].steps) != 1:
        return None
    [branch], [step] = candidate.branches, candidate.paths[0].steps
    path = Metapath(branch.path.start, (step._replace(direction=OPPOSITE[step.direction]),))
    if any(one.paths == (path,) and one.mentions == candidate.mentions for one in candidates):
        return None
    nothing = Branch(branch.start, path, branch.found[:0], (path.end,), 0)
    return PlanCandidate.of((nothing,), (path.end,), 0)


def _joins(
    walks: Sequence[Branch], several: int, overlap: Sequence[frozenset[int]], max_hops: int, limit: Limit
) -> Iterator[PlanCandidate]:
    for end in dict.fromkeys(branch.path.end for branch in walks):
        own = [branch for branch in walks if branch.path.end == end and len(branch.path.steps) < max(2, max_hops)]
        for joined in combinations(sorted(own, key=lambda one: one.start.mention), several):
            limit.check("plan")
            hops = sum(len(branch.path.steps) for branch in joined)
            pairs = list(combinations((branch.start.mention for branch in joined), 2))
            alike = all(same_way(joined[0], other) for other in joined[1:])
            if (hops > max(several, max_hops) and not alike) or any(
                one == two or two in overlap[one] for one, two in pairs
            ):
                continue
            if not _meet(joined):
                yield PlanCandidate.of(joined, (end,), 0)


def _meet(joined: Sequence[Branch]) -> bool:
    """Whether some node outside the names is at the end of every walk."""
    first, *others = joined
    shared = first.found
    for other in others:
        shared = np.intersect1d(shared, other.found, assume_unique=True)
    return bool(np.setdiff1d(shared, [key for branch in joined for key in branch.start.keys]).size)
