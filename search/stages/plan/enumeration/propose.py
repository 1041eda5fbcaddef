"""Question → its possible meanings in this graph: its names, and all plans from these names that find nodes.

Searching and learning both use this module, so a scorer learns from the same lists that it will rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search.domain.trace import Limit
from search.interfaces import Adjacency, MentionIndex, NodeStore
from search.language.names import Named, find_names
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import Enumerator, PlanCandidate, Start
from search.stages.plan.knowledge import Knowledge

_LONGEST = 2_000
"""Number of characters at the start of a question that are read. Only text retrieval uses the rest."""


@dataclass(frozen=True)
class Proposer:
    """Reads questions and lists plans, with at most `max_hops` hops a walk and `max_mentions` mentions a question."""

    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore
    knowledge: Knowledge
    max_hops: int
    max_mentions: int

    def read(self, text: str) -> AnalysedQuestion:
        """Return the question, cut to `_LONGEST` characters, with the names in it."""
        text = text[:_LONGEST]
        names = find_names(text, self.mentions, self.knowledge.ordinary, self.max_mentions)
        return AnalysedQuestion(text, names, self.knowledge.spoken)

    def candidates(self, names: Sequence[Named], limit: Limit) -> list[PlanCandidate]:
        """Return all plans from these mentions that find nodes and whose first answer type is answerable."""
        branches = self.enumerator.branches(list(self._starts(names)), limit)
        overlap = [frozenset(at for at, other in enumerate(names) if name.excludes(other)) for name in names]
        single = [PlanCandidate.of((branch,), branch.types, branch.size) for branch in branches]
        joined = self.enumerator.joins(branches, overlap, limit) if len(names) > 1 else []
        return [candidate for candidate in [*single, *joined] if candidate.types[0] in self.knowledge.answerable]

    @cached_property
    def enumerator(self) -> Enumerator:
        """The enumerator, which walks the graph."""
        return Enumerator(self.adjacency, self.nodes, self.knowledge.shape, max_hops=self.max_hops)

    def _starts(self, names: Sequence[Named]) -> Iterator[Start]:
        for at, name in enumerate(names):
            keys = np.array(name.mention.keys, dtype=np.int32)
            types = self.nodes.types(keys)
            yield from (Start(at, int(code), tuple(keys[types == code].tolist())) for code in np.unique(types))
