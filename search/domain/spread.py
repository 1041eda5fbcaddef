"""A graph list whose candidates were reached by walks from seeds, with one walk for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from search.domain.linking import GraphRanking


@dataclass(frozen=True)
class Spread(GraphRanking):
    """The list of a spread of weight over the graph.

    `walks` holds for each candidate the keys of a walk from a seed to it, both included. `detail` is a sentence for
    people that says what the seeds were.
    """

    walks: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    detail: str = ""
