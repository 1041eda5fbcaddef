"""Compare plans with the order of a question's words, read outward from its names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from search.language.names import Named
from search.language.question import RemainingWords
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate
from search.stages.plan.knowledge.lexicon import Affinities
from search.stages.plan.knowledge.shape import Metapath, Shape
from search.stages.plan.knowledge.target import AGENT
from search.stages.plan.scoring.align import implied_by_start

Scores = NDArray[np.float64]

_TYPE_WORTH = 0.5
"""Weight of a type that has its word in its place; a relation has weight 1. Questions often omit the types."""
_RIGHT_BEHIND = 3
"""Most characters between a name and a word right behind it: a space, or the ending of a possessive."""
_SAYS = 0.7
"""Least affinity from which a word right behind a name says a relation or a type."""


def in_order(
    reading: RemainingWords,
    names: Sequence[Named],
    candidates: Sequence[PlanCandidate],
    affinities: Affinities,
    shape: Shape,
) -> Scores:
    """Return for each plan how well its hops follow the order of the question, read outward from its mentions.

    Each branch is aligned by itself: its hops and types with the words, both in order. The value is 1 when each hop and
    type has its word in its place. A plan of several branches gets the mean of its branches, weighted by their hops.
    """
    # Branches, not their paths, are the keys: the hash of a path is computed anew at each look.
    wanted = {branch: 0.0 for candidate in candidates for branch in candidate.branches}
    for mention in {branch.start.mention for branch in wanted}:
        seen = affinities[_outward(reading, names[mention], affinities, len(shape.schema.relations))]
        mine = [branch for branch in wanted if branch.start.mention == mention]
        for hops in {len(branch.path.steps) for branch in mine}:
            alike = [branch for branch in mine if len(branch.path.steps) == hops]
            shares = _aligned([branch.path for branch in alike], seen, shape)
            wanted.update(zip(alike, shares.tolist(), strict=True))
    return np.array([_mean(candidate, wanted) for candidate in candidates])


def _outward(reading: RemainingWords, name: Named, affinities: Affinities, relations: int) -> list[int]:
    """Return the places of the content words outward from a name (`RemainingWords.outward`).

    A word of a relation right behind the name, with a noun of the schema or nothing behind it, belongs to the name
    before all others: `the writers of X directed films`, `films by the X director`.
    """
    order = reading.outward(name.mention.start)
    behind = bisect_left([word.start for word in reading.content], name.mention.end)
    if behind == len(reading.content) or reading.content[behind].start - name.mention.end > _RIGHT_BEHIND:
        return order
    if affinities[behind, :relations].max(initial=0.0) < _SAYS:
        return order
    here = reading.words.index(reading.content[behind])
    following = reading.words[here + 1] if here + 1 < len(reading.words) else None
    if following is None or not following.content:
        own = [behind] if following is None or reading.content[behind].text.endswith(AGENT) else []
    else:
        own = [behind, behind + 1] if affinities[behind + 1, relations:].max(initial=0.0) >= _SAYS else []
    return [*own, *(at for at in order if at not in own)]


def _mean(candidate: PlanCandidate, aligned: dict[Branch, float]) -> float:
    if len(candidate.branches) == 1:
        return aligned[candidate.branches[0]]
    hops = [len(path.steps) for path in candidate.paths]
    shares = [aligned[branch] for branch in candidate.branches]
    return sum(share * count for share, count in zip(shares, hops, strict=True)) / sum(hops)


def _aligned(paths: Sequence[Metapath], seen: Affinities, shape: Shape) -> Scores:
    """Return the best alignment of the words `seen`, in order, with the hops and types of each path.

    All paths have the same length and are aligned at once. Every alignment starts with the affinity that the mention's
    type implies.
    """
    relations = len(shape.schema.relations)
    slots = np.array([_slots(path, relations) for path in paths])
    worth = np.tile([1.0, _TYPE_WORTH], slots.shape[1] // 2)
    gains = seen[:, slots] * worth
    row = np.zeros((slots.shape[1] + 1, len(paths)))
    row[1:] = [implied_by_start(path, shape) for path in paths]
    for gain in gains:
        above, row = row, np.zeros_like(row)
        for at in range(slots.shape[1]):
            row[at + 1] = np.maximum(np.maximum(above[at + 1], row[at]), above[at] + gain[:, at])
    shares: Scores = row[-1] / worth.sum()
    return shares


@lru_cache(maxsize=50_000)
def _slots(path: Metapath, relations: int) -> tuple[int, ...]:
    """Return the columns of the lexicon in the order of a walk: relation and far type of each hop."""
    return tuple(slot for step in path.steps for slot in (step.relation, relations + step.to_type))
