"""The similarity edges of a release in memory-mapped files: rows of neighbours, the most similar first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Keys, SimilarEdges

ABOUT = "about.json"


def build(
    directory: Path,
    *,
    nodes: int,
    keys: Keys,
    far: NDArray[np.int32],
    strength: NDArray[np.float32],
    signal: NDArray[np.int8],
    about: Mapping[str, Any],
) -> None:
    """Write the edges into the existing folder `directory`.

    `keys` are the nodes that take part, of `nodes` nodes. `far`, `strength` and `signal` have a row for each of them
    and a column for each neighbour; `far` is -1 behind the last one. `about` is the report of
    `search.domain.similarity`.
    """
    there = far >= 0
    degrees = np.zeros(nodes, dtype=np.int64)
    degrees[keys] = there.sum(axis=1)
    np.save(directory / "starts.npy", np.concatenate(([0], np.cumsum(degrees))).astype(np.int64))
    np.save(directory / "neighbours.npy", far[there].astype(np.int32))
    np.save(directory / "strengths.npy", strength[there].astype(np.float32))
    np.save(directory / "signals.npy", signal[there].astype(np.int8))
    (directory / ABOUT).write_text(json.dumps(about, ensure_ascii=False))


@dataclass(frozen=True)
class MemmapSimilar:
    """The edges that `build` wrote (interfaces.SimilarIndex); a release without them has an empty folder or none."""

    directory: Path

    @cached_property
    def built(self) -> bool:
        """Whether the release has similarity edges."""
        return (self.directory / ABOUT).exists()

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """The report of the job that made the edges; empty without edges."""
        return json.loads((self.directory / ABOUT).read_text()) if self.built else {}

    def neighbours(self, key: int) -> SimilarEdges:
        """Return the neighbours of a node, the most similar first; none if it takes no part."""
        if not self.built:
            return SimilarEdges(np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.int8))
        starts, far, strengths, signals = self._arrays
        own = slice(int(starts[key]), int(starts[key + 1]))
        return SimilarEdges(far[own], strengths[own], signals[own])

    @cached_property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        names = ("starts", "neighbours", "strengths", "signals")
        return tuple(
            np.load(self.directory / f"{name}.npy", mmap_mode="r", allow_pickle=False).view(np.ndarray)
            for name in names
        )
