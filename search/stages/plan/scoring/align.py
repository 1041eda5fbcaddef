"""Compare plans with the words of a question: hops that have a word, and words without a hop.

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

from search.stages.plan.knowledge.lexicon import Affinities
from search.stages.plan.knowledge.shape import Metapath, Shape

Scores = NDArray[np.float64]
Columns = NDArray[np.int64]

_SMOOTH = 0.5
_NOT_SHARED = -0.3
"""What a plan without a way back counts where the question says `same`."""
_IMPLIED = 0.8
"""Affinity that a mention alone gives to a relation when its type has no other relation.

`drama films` needs no word for the genre.
"""

_NARROWER = 0.5
"""The same for a first hop to the kinds or parts of what is named: `drugs for diabetes` are those for its forms."""


class _Row(NamedTuple):
    """One plan as numbers. All fields but the last have one value for each hop.

    `relations`: the code of the relation. `earlier`: how often the plan has used this relation in earlier hops.
    `said`: the relation again, or -1 where the word of the hop before also counts for this hop. `implied`: the affinity
    that the mention alone gives to the hop.
    `near` and `far`: the columns of the lexicon for the types at its ends. `back`: whether the hop walks a relation of
    an earlier hop back. `elements`: the columns of the lexicon for the whole plan.
    """

    relations: tuple[int, ...]
    earlier: tuple[int, ...]
    said: tuple[int, ...]
    implied: tuple[float, ...]
    near: tuple[int, ...]
    far: tuple[int, ...]
    back: tuple[float, ...]
    elements: tuple[int, ...]


@lru_cache(maxsize=50_000)
def _row(paths: tuple[Metapath, ...], shape: Shape, sharing: bool) -> _Row:
    *others, path = paths
    if len(path.steps) > 1:
        # Most walks are longer by one hop than one that is known.
        before = _row((*others, Metapath(path.start, path.steps[:-1])), shape, sharing)
    else:
        before = _row(tuple(others), shape, sharing) if others else _Row((), (), (), (), (), (), (), ())
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
        (*before.implied[: len(before.implied) - len(walked)], implied_by_start(path, shape), *(0.0 for _ in walked)),
        (*before.near, relations + (walked[-1].to_type if walked else path.start)),
        (*before.far, relations + step.to_type),
        (*before.back, float(any(turned))),
        (*before.elements, *(one for one in dict.fromkeys(columns) if one not in before.elements)),
    )


@lru_cache(maxsize=50_000)
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

    Shorter rows are filled with -1, in `implied` and `back` with 0.
    """

    relations: Columns
    earlier: Columns
    said: Columns
    implied: Scores
    near: Columns
    far: Columns
    back: Scores
    elements: Columns

    @classmethod
    def of(cls, plans: Sequence[tuple[Metapath, ...]], shape: Shape, sharing: bool) -> Table:
        """Return the table of these plans; `sharing` is whether the question has a word like `same` or `share`."""
        rows = [_row(plan, shape, sharing) for plan in plans]
        return cls(
            _filled([row.relations for row in rows]),
            _filled([row.earlier for row in rows]),
            _filled([row.said for row in rows]),
            _filled([row.implied for row in rows], 0.0, np.float64),
            _filled([row.near for row in rows]),
            _filled([row.far for row in rows]),
            _filled([row.back for row in rows], 0.0, np.float64),
            _filled([row.elements for row in rows]),
        )

    def hops(self, affinities: Affinities, relations: int, asked: int | None = None) -> tuple[Scores, Scores]:
        """Return for each plan the share of its hops that have their own word, and the affinity of words without a hop.

        A word that is as close to a type as to a relation never counts as a word without a hop: `years` stands for the
        type year and for the relation to it. Nor does the word at the place `asked`, which names the answers.
        """
        here = self.relations >= 0
        columns = np.where(here, self.relations, 0)
        own = self._own(affinities)
        bare = _bare(affinities, relations)
        if asked is not None:
            bare[asked] = 0.0
        said = self.said >= 0
        total = (bare.sum(axis=0)[columns] * (said & (self.earlier == 0))).sum(axis=1)
        left: Scores = total - (self._own(bare) * said).sum(axis=1)
        shares: Scores = np.maximum(own, self.implied).sum(axis=1) / here.sum(axis=1)
        return shares, left

    def returns(self, affinities: Affinities, relations: int, shared: Affinities | None) -> Scores:
        """Return for each plan whether the question says that it walks one relation there and back.

        It says so by a word like `same`, or by a word for each of the two hops: `written by the writer of`. The value
        is positive where plan and word agree, and negative where there is only one of the two. `shared` is the affinity
        of each element to what the question says to be the same, or None if it has no such word.
        """
        if shared is not None:
            agreed = np.maximum(np.maximum(shared[self.relations], shared[self.near]), shared[self.far]) * self.back
            known: Scores = _NOT_SHARED + (1 - _NOT_SHARED) * agreed.max(axis=1)
            return known
        if not self.back.any():
            return np.zeros(len(self.back))
        unsaid: Scores = (self.back * (self._own(_bare(affinities, relations)) - 1.0)).min(axis=1)
        return unsaid

    def _own(self, affinities: Affinities) -> Scores:
        """Return for each hop the affinity of the word that is its own."""
        here = self.relations >= 0
        columns, places = np.where(here, self.relations, 0), np.where(here, self.earlier, 0)
        own: Scores = _ranked(affinities, self.relations.shape[1])[places, columns] * here
        return own

    def words(self, affinities: Affinities) -> Scores:
        """Return for each plan the share of the affinity of the question's words that its elements have, in (0, 1]."""
        padded = np.concatenate((affinities, np.zeros((len(affinities), 1))), axis=1)
        explained = padded[:, self.elements].max(axis=2).sum(axis=0)
        total = affinities.max(axis=1, initial=0.0).sum()
        shares: Scores = (explained + _SMOOTH) / (total + _SMOOTH)
        return shares


def _bare(affinities: Affinities, relations: int) -> Affinities:
    """Return the affinities to relations above those to any type: a word as close to a type says no relation alone."""
    types = affinities[:, relations:].max(axis=1, initial=0.0)
    bare: Affinities = np.maximum(affinities[:, :relations] - types[:, None], 0.0)
    return bare


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
