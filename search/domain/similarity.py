"""Similarity edges of a release (SAGE, section 2.1): what they are made by, and what was made.

`IS_SIMILAR` leads from a text-rich node to nodes of similar content, title or topics. These edges are no edges of the
graph: plans do not follow them, documents do not name them, and counts do not include them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

IS_SIMILAR = "IS_SIMILAR"
"""Name of the relation on pages and in paths."""
DEGREES = ((0, "0"), (4, "1–4"), (9, "5–9"), (14, "10–14"), (19, "15–19"), (25, "20–25"))
"""Ranges of a node's number of neighbours, as (upper end, name); above them there is one more."""
MORE = "more"


@dataclass(frozen=True, slots=True)
class SimilarSettings:
    """How similarity edges are made.

    A pair of nodes is similar where one of its similarities exceeds the `percentile` of that signal among the pairs of
    the same node types. A node keeps at most `neighbours`. `types` are the node types that take part; empty for all
    types with text. With `across`, nodes of two types are compared, too. A node takes part if its text fields have at
    least `least_words` words. `pairs` is the number of pairs that are drawn for a percentile; with fewer, all count.
    """

    percentile: float = 95.0
    neighbours: int = 25
    types: tuple[str, ...] = ()
    across: bool = False
    least_words: int = 8
    pairs: int = 200_000

    def to_json(self) -> dict[str, Any]:
        """Return the settings by name."""
        return {**asdict(self), "types": list(self.types)}


@dataclass(frozen=True, slots=True)
class SignalThreshold:
    """The threshold of one signal among the pairs of two node types (often the same type twice).

    `pairs` were compared to find it, all pairs that there are if `every`. `edges` owe the most to this signal.
    """

    signal: str
    types: tuple[str, str]
    threshold: float
    pairs: int
    every: bool
    edges: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the values by name."""
        return {**asdict(self), "types": list(self.types)}


@dataclass(frozen=True)
class SimilarReport:
    """What was made: `nodes` took part and have `edges`; `degrees` counts the nodes by their number of neighbours."""

    settings: SimilarSettings
    nodes: int
    edges: int
    thresholds: Sequence[SignalThreshold]
    degrees: Mapping[str, int]
    median: float
    most: int
    seconds: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            **self.settings.to_json(),
            "nodes": self.nodes,
            "edges": self.edges,
            "thresholds": [one.to_json() for one in self.thresholds],
            "degrees": dict(self.degrees),
            "median_degree": self.median,
            "most_degree": self.most,
            "seconds": {part: round(taken, 3) for part, taken in self.seconds.items()},
        }


def by_degree(degrees: Sequence[int]) -> dict[str, int]:
    """Return range of degrees → number of nodes in it; the last range holds all that have more."""
    counts = dict.fromkeys([name for _, name in DEGREES] + [MORE], 0)
    for degree in degrees:
        counts[next((name for most, name in DEGREES if degree <= most), MORE)] += 1
    return counts
