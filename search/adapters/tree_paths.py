"""What each signal adds to the score of a candidate, read off the paths through LightGBM's trees.

On the way from the root of a tree to a leaf, every split changes the expected score; the change is the contribution of
the signal that is asked there (Saabas 2014; for forests Palczewska et al. 2013). LightGBM's own Shapley values take ten
times as long as the ranking itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DEFAULT_LEFT, _MISSING, _NAN = 2, 3, 2
"""In `decision_type`: the bit for missing values that go left, the mask (after a shift by 2) of how values are missing,
and the value there for NaN."""


@dataclass(frozen=True, eq=False)
class TreePaths:
    """The splits of several trees. A node is a position in the arrays; a leaf is its own child on both sides.

    `values` holds the expected score at each node. `nan` says that NaN goes to the `default` side; otherwise NaN counts
    as 0.
    """

    roots: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    default_left: NDArray[np.bool_]
    nan: NDArray[np.bool_]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, models: Sequence[str]) -> TreePaths:
        """Return the trees of some models in LightGBM's text format. Raises KeyError or ValueError for other texts."""
        parts: list[tuple[NDArray[np.float64], ...]] = []
        roots, first = [], 0
        for tree in (tree for model in models for tree in _trees(model)):
            part = _nodes(tree, first)
            roots.append(first)
            first += len(part[0])
            parts.append(part)
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        feature, threshold, kind, left, right, value = columns
        kinds = kind.astype(np.int64)
        return cls(
            np.array(roots), feature.astype(np.int64), threshold, (kinds & _DEFAULT_LEFT) > 0,
            ((kinds >> 2) & _MISSING) == _NAN, left.astype(np.int64), right.astype(np.int64), value,
        )  # fmt: skip

    def contributions(self, signals: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return what each signal adds to the sum of all trees, shape of `signals` (candidates, signals)."""
        count, width = signals.shape
        rows = np.repeat(np.arange(count), len(self.roots))
        nodes = np.tile(self.roots, count)
        total = np.zeros(count * width)
        wide = signals.astype(np.float64)
        while True:
            inner = self.left[nodes] != nodes
            rows, nodes = rows[inner], nodes[inner]
            if not len(nodes):
                return total.reshape(count, width)
            features = self.features[nodes]
            asked = wide[rows, features]
            missing = np.isnan(asked)
            goes_left = np.where(missing, 0.0, asked) <= self.thresholds[nodes]
            goes_left = np.where(missing & self.nan[nodes], self.default_left[nodes], goes_left)
            children = np.where(goes_left, self.left[nodes], self.right[nodes])
            moved = self.values[children] - self.values[nodes]
            total += np.bincount(rows * width + features, moved, minlength=count * width)
            nodes = children


def _trees(model: str) -> Iterator[Mapping[str, str]]:
    """Yield the parts of each tree by name."""
    for block in model.split("\nTree=")[1:]:
        lines = block.split("\n\n", 1)[0].splitlines()
        yield dict(line.split("=", 1) for line in lines if "=" in line)


def _nodes(tree: Mapping[str, str], first: int) -> tuple[NDArray[np.float64], ...]:
    """Return the nodes of a tree, splits before leaves: signal, threshold, kind, children, expected score."""
    leaves = _numbers(tree["leaf_value"])
    splits = len(leaves) - 1
    own = first + splits + np.arange(len(leaves), dtype=np.float64)
    none = np.zeros(len(leaves))
    if not splits:
        return none, none, none, own, own, leaves

    def children(name: str) -> NDArray[np.float64]:
        # A negative number -1, -2, … is the leaf 0, 1, …
        numbers = _numbers(tree[name])
        return np.concatenate([first + np.where(numbers < 0, splits - 1 - numbers, numbers), own])

    def of_splits(name: str) -> NDArray[np.float64]:
        return np.concatenate([_numbers(tree[name]), none])

    return (
        of_splits("split_feature"), of_splits("threshold"), of_splits("decision_type"), children("left_child"),
        children("right_child"), np.concatenate([_numbers(tree["internal_value"]), leaves]),
    )  # fmt: skip


def _numbers(text: str) -> NDArray[np.float64]:
    return np.array(text.split(), dtype=np.float64)
