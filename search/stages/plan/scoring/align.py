"""Compare plans with the words of a question: hops that have a word, words without a hop, and the order of both.

All plans of a question are compared together. They are rows of small integer tables over the columns of the lexicon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.language.names import Named
from search.language.question import RemainingWords
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate
from search.stages.plan.knowledge.lexicon import Affinities
from search.stages.plan.knowledge.shape import Metapath, Shape

Scores = NDArray[np.float64]
Columns = NDArray[np.int64]

_SMOOTH = 0.5
_TYPE_WORTH = 0.5
"""Weight of a type that has its word in its place; a relation has weight 1. Questions often omit the types."""
_IMPLIED = 0.8
"""Affinity that a mention alone gives to a relation when its type has no other relation.

`drama films` needs no word for the genre.
"""

_NARROWER = 0.5
"""The same for a first hop to the kinds or parts of what is named: `drugs for diabetes` are those for its forms."""


class _Row(NamedTuple):
    """One plan as numbers. The first four fields have one value for each hop.

    `relations`: the code of the relation. `earlier`: how often the plan has used this relation in earlier hops.
    `said`: the relation again, or -1 where the word of the hop before also counts for this hop. `implied`: the affinity
    that the mention alone gives to the hop.
    `elements`: the columns of the lexicon for the whole plan. `back`: whether it walks one relation there and back.
    """

    relations: tuple[int, ...]
    earlier: tuple[int, ...]
    said: tuple[int, ...]
    implied: tuple[float, ...]
    elements: tuple[int, ...]
    back: bool


@lru_cache(maxsize=50_000)
def _row(paths: tuple[Metapath, ...], shape: Shape, sharing: bool) -> _Row:
    *others, path = paths
    if len(path.steps) > 1:
        # Most walks are longer by one hop than one that is known.
        before = _row((*others, Metapath(path.start, path.steps[:-1])), shape, sharing)
    else:
        before = _row(tuple(others), shape, sharing) if others else _Row((), (), (), (), (), False)
    *walked, step = path.steps
    relation, relations = step.relation, len(shape.schema.relations)
    turned = [other.relation == relation and other.direction != step.direction for other in walked]
    # `films that share actors` says the relation once for the way there and the way back.
    once = sharing and turned[-1:] == [True]
    columns = (relations + path.start, relation, relations + step.to_type)
    return _Row(
        (*before.relations, relation),
        (*before.earlier, before.earlier[-1] if once else before.said.count(relation)),
        (*before.said, -1 if once else relation),
        (*before.implied[: len(before.implied) - len(walked)], _implied(path, shape), *(0.0 for _ in walked)),
        (*before.elements, *(one for one in dict.fromkeys(columns) if one not in before.elements)),
        before.back or any(turned),
    )


@lru_cache(maxsize=50_000)
def _implied(path: Metapath, shape: Shape) -> float:
    return implied_by_start(path, shape)


@lru_cache(maxsize=50_000)
def _slots(path: Metapath, relations: int) -> tuple[int, ...]:
    """Return the columns of the lexicon in the order of a walk: relation and far type of each hop."""
    return tuple(slot for step in path.steps for slot in (step.relation, relations + step.to_type))


def implied_by_start(path: Metapath, shape: Shape) -> float:
    """Return the affinity, in [0, 1], that the type of a mention alone gives to the first hop of a path from it."""
    first = path.steps[0]
    if len(path.steps) > 1 and first.to_type == path.start and shape.narrows(first.relation, first.direction):
        return _NARROWER
    return _IMPLIED * shape.share(path.start, first.relation, first.direction)


def elements(paths: Sequence[Metapath], relations: int, types: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the columns of the lexicon for a plan: its relations and its node types, each once.

    `types` are codes of further types, such as the answer type of a plan without hops.
    """
    columns: dict[int, None] = dict.fromkeys(relations + code for code in types)
    for path in paths:
        columns[relations + path.start] = None
        for step in path.steps:
            columns[step.relation] = None
            columns[relations + step.to_type] = None
    return tuple(columns)


@dataclass(frozen=True, slots=True)
class Table:
    """Plans as rows of numbers; the fields are those of `_Row`.

    Shorter rows are filled with -1, in `implied` with 0. `back` is 1 where a plan walks one relation there and
    back, else 0.
    """

    relations: Columns
    earlier: Columns
    said: Columns
    implied: Scores
    elements: Columns
    back: Scores

    @classmethod
    def of(cls, plans: Sequence[tuple[Metapath, ...]], shape: Shape, sharing: bool) -> Table:
        """Return the table of these plans; `sharing` is whether the question has a word like `same` or `share`."""
        rows = [_row(plan, shape, sharing) for plan in plans]
        return cls(
            _filled([row.relations for row in rows]),
            _filled([row.earlier for row in rows]),
            _filled([row.said for row in rows]),
            _filled([row.implied for row in rows], 0.0, np.float64),
            _filled([row.elements for row in rows]),
            np.array([row.back for row in rows], dtype=np.float64),
        )

    def hops(self, affinities: Affinities, relations: int) -> tuple[Scores, Scores]:
        """Return for each plan the share of its hops that have their own word, and the affinity of words without a hop.

        A word that is as close to a type as to a relation never counts as a word without a hop: `years` stands for the
        type year and for the relation to it.
        """
        here = self.relations >= 0
        columns = np.where(here, self.relations, 0)
        places = np.where(here, self.earlier, 0)
        depth = self.relations.shape[1]
        own = _ranked(affinities, depth)[places, columns] * here
        bare = np.maximum(affinities[:, :relations] - affinities[:, relations:].max(axis=1, initial=0.0)[:, None], 0.0)
        said = self.said >= 0
        total = (bare.sum(axis=0)[columns] * (said & (self.earlier == 0))).sum(axis=1)
        left: Scores = total - (_ranked(bare, depth)[places, columns] * said).sum(axis=1)
        shares: Scores = np.maximum(own, self.implied).sum(axis=1) / here.sum(axis=1)
        return shares, left

    def words(self, affinities: Affinities) -> Scores:
        """Return for each plan the share of the affinity of the question's words that its elements have, in (0, 1]."""
        padded = np.concatenate((affinities, np.zeros((len(affinities), 1))), axis=1)
        explained = padded[:, self.elements].max(axis=2).sum(axis=0)
        total = affinities.max(axis=1, initial=0.0).sum()
        shares: Scores = (explained + _SMOOTH) / (total + _SMOOTH)
        return shares


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
        seen = affinities[reading.outward(names[mention].mention.start)]
        mine = [branch for branch in wanted if branch.start.mention == mention]
        for hops in {len(branch.path.steps) for branch in mine}:
            alike = [branch for branch in mine if len(branch.path.steps) == hops]
            shares = _aligned([branch.path for branch in alike], seen, shape)
            wanted.update(zip(alike, shares.tolist(), strict=True))
    return np.array([_mean(candidate, wanted) for candidate in candidates])


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
    row[1:] = [_implied(path, shape) for path in paths]
    for gain in gains:
        above, row = row, np.zeros_like(row)
        for at in range(slots.shape[1]):
            row[at + 1] = np.maximum(np.maximum(above[at + 1], row[at]), above[at] + gain[:, at])
    shares: Scores = row[-1] / worth.sum()
    return shares


def _ranked(affinities: Affinities, depth: int) -> Affinities:
    """Return the strongest affinities of each column, best first, shape (depth, columns)."""
    ranked = np.zeros((depth, affinities.shape[1]))
    best = -np.sort(-affinities, axis=0)[:depth]
    ranked[: len(best)] = best
    return ranked


def _filled(rows: Sequence[tuple[float, ...]], empty: float = -1, dtype: type = np.int64) -> NDArray[Any]:
    """Return rows of different lengths as one table."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    table: NDArray[Any] = np.full((len(rows), int(lengths.max())), empty, dtype=dtype)
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.fromiter(chain.from_iterable(rows), dtype=dtype)
    return table
