"""Similarity edges of text-rich nodes: thresholds from the signals' distributions, and the nearest nodes above them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Schema
from search.domain.run_context import RunContext
from search.domain.similarity import SignalThreshold, SimilarSettings
from search.ingest.similar.best import SimilarFound, place_in_run
from search.ingest.similar.signals import Places, Signal
from search.interfaces import Keys

SEED = 2602
"""Seed of the drawn pairs."""
FIND_THRESHOLDS = "Comparing drawn pairs"
FIND_NEIGHBOURS = "Finding neighbours"
BLOCKS_A_CHECKPOINT = 32
_CHECKPOINT = "similar-{}.npz"

Group = tuple[int, int]
"""The type codes of the two nodes of a pair, the smaller first."""


@dataclass(frozen=True, slots=True)
class SimilarRows:
    """The edges of every node that takes part, as rows: `far[i, j]` is a neighbour of `keys[i]`, -1 for none.

    Each row falls by `strength`: how far the strongest similarity is above its threshold, as a fraction of what is
    possible, in (0, 1]; equal ones in the order of keys. `signal` is the index of that signal. `thresholds` say how
    many edges each signal gave.
    """

    keys: Keys
    far: NDArray[np.int32]
    strength: NDArray[np.float32]
    signal: NDArray[np.int8]
    thresholds: tuple[SignalThreshold, ...]


@dataclass(frozen=True, slots=True)
class _Task:
    """One block of nodes to compare by one signal: places of the signal, and the threshold among such pairs."""

    signal: int
    rows: Places
    columns: Places
    threshold: float


def link(
    signals: Sequence[Signal], keys: Keys, types: NDArray[np.int16], schema: Schema, settings: SimilarSettings,
    run: RunContext,
) -> SimilarRows:  # fmt: skip
    """Return the edges of the nodes `keys` (sorted; `types` holds the type code of each).

    A pair is an edge if any signal exceeds the percentile of its own distribution among pairs of these two types (OR).
    A node keeps the strongest; the bound is exact for each node, so an edge may lead in one direction only. Work that
    was interrupted goes on from its checkpoints and returns the same. Raises RunCancelled.
    """
    groups = _groups(types, settings.across)
    thresholds = _thresholds(signals, keys, types, groups, settings, run)
    state = _State(keys, settings.neighbours)
    done, total = 0, max(1, len(keys) * len(signals))
    run.report(FIND_NEIGHBOURS, 0, total)
    tasks = _tasks(signals, keys, types, thresholds, run)
    for number, several in enumerate(_in_groups(tasks, BLOCKS_A_CHECKPOINT)):
        saved = run.checkpoints.load(_CHECKPOINT.format(number))
        found = _read(saved) if saved is not None else _compared(several, signals, settings.neighbours, run)
        if saved is None:
            run.checkpoints.save(_CHECKPOINT.format(number), _written(found))
        for task, one in zip(several, found, strict=True):
            state.add(one, task.signal, task.threshold)
            done += len(task.rows)
        run.report(FIND_NEIGHBOURS, min(done, total), total)
    return _rows(state, signals, thresholds, types, schema)


def _groups(types: NDArray[np.int16], across: bool) -> list[Group]:
    codes = [int(code) for code in np.unique(types)]
    return list(combinations_with_replacement(codes, 2)) if across else [(code, code) for code in codes]


def _of_type(signal: Signal, keys: Keys, types: NDArray[np.int16], code: int) -> Places:
    """Return the places of a signal whose nodes are of a type."""
    return np.flatnonzero(types[np.searchsorted(keys, signal.keys)] == code)


def _thresholds(
    signals: Sequence[Signal], keys: Keys, types: NDArray[np.int16], groups: Sequence[Group],
    settings: SimilarSettings, run: RunContext,
) -> dict[tuple[int, Group], tuple[float, int, bool]]:  # fmt: skip
    """Return (signal, group) → threshold, pairs compared, whether these are all; groups without a pair are absent."""
    found: dict[tuple[int, Group], tuple[float, int, bool]] = {}
    total = len(signals) * len(groups)
    for done, (at, group) in enumerate((at, group) for at in range(len(signals)) for group in groups):
        run.report(FIND_THRESHOLDS, done, total)
        near, far = (_of_type(signals[at], keys, types, code) for code in group)
        rows, columns, every = drawn_pairs(near, far, settings.pairs, (SEED, at, *group))
        if len(rows):
            similarities = signals[at].pairs(rows, columns).astype(np.float64)
            found[at, group] = float(np.percentile(similarities, settings.percentile)), len(rows), every
    run.report(FIND_THRESHOLDS, total, total)
    return found


def drawn_pairs(near: Places, far: Places, most: int, seed: tuple[int, ...]) -> tuple[Places, Places, bool]:
    """Return pairs of different places, one from each array, and whether they are all pairs that there are.

    The arrays are the same (each pair counts once) or have nothing in common. More than `most` pairs are drawn with
    replacement by a generator with this seed.
    """
    same = len(near) == len(far) and bool((near == far).all())
    count = len(near) * (len(near) - 1) // 2 if same else len(near) * len(far)
    if count <= most:
        rows, columns = np.triu_indices(len(near), 1) if same else np.indices((len(near), len(far))).reshape(2, -1)
        return near[rows], far[columns], True
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, len(near), most)
    if not same:
        return near[rows], far[generator.integers(0, len(far), most)], False
    return near[rows], far[(rows + generator.integers(1, len(near), most)) % len(near)], False


def _tasks(
    signals: Sequence[Signal], keys: Keys, types: NDArray[np.int16],
    thresholds: Mapping[tuple[int, Group], tuple[float, int, bool]], run: RunContext,
) -> Iterator[_Task]:  # fmt: skip
    """Yield every block of work; they depend on the data alone, so that an interrupted run has the same."""
    for (at, group), (threshold, _, _) in thresholds.items():
        places = {code: _of_type(signals[at], keys, types, code) for code in group}
        for near, far in dict.fromkeys([group, group[::-1]]):
            for rows, columns in signals[at].blocks(places[near], places[far], run.check):
                yield _Task(at, rows, columns, threshold)


def _in_groups(tasks: Iterator[_Task], size: int) -> Iterator[list[_Task]]:
    group: list[_Task] = []
    for task in tasks:
        group.append(task)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _compared(tasks: Sequence[_Task], signals: Sequence[Signal], most: int, run: RunContext) -> list[SimilarFound]:
    found = []
    for task in tasks:
        run.check()
        found.append(signals[task.signal].best(task.rows, task.columns, task.threshold, most))
    return found


def _written(found: Sequence[SimilarFound]) -> bytes:
    file = io.BytesIO()
    np.savez(
        file,
        sizes=np.array([len(one.near) for one in found]),
        near=np.concatenate([one.near for one in found]),
        far=np.concatenate([one.far for one in found]),
        similarity=np.concatenate([one.similarity for one in found]),
    )
    return file.getvalue()


def _read(content: bytes) -> list[SimilarFound]:
    with np.load(io.BytesIO(content), allow_pickle=False) as saved:
        ends = np.cumsum(saved["sizes"])[:-1]
        parts = (np.split(saved[name], ends) for name in ("near", "far", "similarity"))
        return [SimilarFound(*one) for one in zip(*parts, strict=True)]


class _State:
    """The strongest edges of every node so far. Memory: 9 bytes for each node and place."""

    def __init__(self, keys: Keys, most: int) -> None:
        self.keys = keys
        self.far = np.full((len(keys), most), -1, dtype=np.int32)
        self.strength = np.zeros((len(keys), most), dtype=np.float32)
        self.signal = np.full((len(keys), most), -1, dtype=np.int8)

    def add(self, found: SimilarFound, signal: int, threshold: float) -> None:
        """Merge the entries of one block. A pair that is there already keeps its larger strength."""
        if not len(found.near):
            return
        rows = np.searchsorted(self.keys, np.unique(found.near))
        old_row, old_at = np.nonzero(self.far[rows] >= 0)
        near = np.concatenate([rows[old_row], np.searchsorted(self.keys, found.near)])
        far = np.concatenate([self.far[rows][old_row, old_at], found.far])
        new = ((found.similarity - threshold) / max(1.0 - threshold, 1e-9)).clip(0.0, 1.0).astype(np.float32)
        strength = np.concatenate([self.strength[rows][old_row, old_at], new])
        signals = np.concatenate([self.signal[rows][old_row, old_at], np.full(len(new), signal, dtype=np.int8)])
        order = np.lexsort((signals, -strength, far, near))
        first = np.ones(len(order), dtype=bool)
        first[1:] = (near[order][1:] != near[order][:-1]) | (far[order][1:] != far[order][:-1])
        order = order[first]
        order = order[np.lexsort((far[order], -strength[order], near[order]))]
        place = place_in_run(near[order])
        order, place = order[place < self.far.shape[1]], place[place < self.far.shape[1]]
        self.far[rows], self.strength[rows], self.signal[rows] = -1, 0.0, -1
        self.far[near[order], place] = far[order]
        self.strength[near[order], place] = strength[order]
        self.signal[near[order], place] = signals[order]


def _rows(
    state: _State, signals: Sequence[Signal], thresholds: Mapping[tuple[int, Group], tuple[float, int, bool]],
    types: NDArray[np.int16], schema: Schema,
) -> SimilarRows:  # fmt: skip
    """Return the edges with the thresholds in words and the number of edges that each gave."""
    row, at = np.nonzero(state.far >= 0)
    ends = np.sort(np.stack([types[row], types[np.searchsorted(state.keys, state.far[row, at])]], axis=1), axis=1)
    told = []
    for (signal, group), (threshold, pairs, every) in thresholds.items():
        own = (state.signal[row, at] == signal) & (ends == group).all(axis=1)
        names = schema.node_types[group[0]].name, schema.node_types[group[1]].name
        made = SignalThreshold(signals[signal].name, names, round(threshold, 6), pairs, every)
        told.append(replace(made, edges=int(own.sum())))
    return SimilarRows(state.keys, state.far, state.strength, state.signal, tuple(told))
