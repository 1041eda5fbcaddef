"""How the words of a question were read as names, for people: what was mended, and what may be meant instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.domain.linking import Reading
from search.interfaces import Adjacency, Keys, MentionIndex, NodeStore

MOST_OTHERS = 3
BETTER_KNOWN = 5
"""How many times as many edges another node must have, to be named beside the node that was found."""


@dataclass(frozen=True)
class Readings:
    """Tells how names were read; all look-ups are in memory-mapped files."""

    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore

    def of(self, text: str, keys: Sequence[int]) -> Reading | None:
        """Return how a text was read as the name of these nodes; None if it is simply their name.

        Better-known nodes have `BETTER_KNOWN` times as many edges. They have the same name, or one that is a typing
        error away.
        """
        same = self.mentions.lookup(text)
        how = "name" if not set(same).isdisjoint(keys) else self._how(text, keys)
        others = self._better_known(text, keys, same) if how == "name" else []
        if not how or (how == "name" and not others):
            return None
        return Reading(how, tuple(self.nodes.references(others)))

    def _how(self, text: str, keys: Sequence[int]) -> str:
        """Return by which way the nodes are found for a text, empty if the text alone does not lead to them."""
        said = text.strip()
        for mention in self.mentions.find(text):
            if mention.text == said and not set(mention.keys).isdisjoint(keys):
                return mention.how
        return ""

    def _better_known(self, text: str, keys: Sequence[int], same: Sequence[int]) -> list[int]:
        near = [key for mention in self.mentions.misspelt(text) for key in mention.keys]
        known = set(keys)
        candidates = [key for key in dict.fromkeys([*same, *near]) if key not in known][: 10 * MOST_OTHERS]
        least = BETTER_KNOWN * max(1, self._edges(np.array(sorted(known), dtype=np.int32)))
        edges = {key: self._edges(np.array([key], dtype=np.int32)) for key in candidates}
        return sorted((key for key in candidates if edges[key] >= least), key=lambda key: (-edges[key], key))[
            :MOST_OTHERS
        ]

    def _edges(self, keys: Keys) -> int:
        return sum(self.adjacency.counts(keys).values())
