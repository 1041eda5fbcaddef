"""Fills the list up with documents that the graph did not find (AF-Retriever, section 3.2, step 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit
from search.domain.vector_kinds import DOCUMENT, WHOLE
from search.interfaces import Adjacency, Encoder, TextIndex, VectorIndex
from search.interfaces.triplets import Filled, Grounding

STAGE = "fill"
NO_VECTORS = "This release has no vectors: the list is filled up by BM25."
_AT_FIRST = 200
"""Documents that are fetched at first; four times as many each time that grounded answers leave too few of them."""


@dataclass(frozen=True)
class Fill:
    """Question → the nearest documents of the predicted types.

    The first ones fill the list up to k; grounded answers that were not kept are not among them. Further documents
    follow them up to `depth`, so that lists of different pipelines can be compared; no model judges them.
    """

    encoder: Encoder
    vectors: VectorIndex
    text: TextIndex
    adjacency: Adjacency
    kind: str = option(WHOLE, "Kind of vectors: documents with relations, or without them.", choices=(WHOLE, DOCUMENT))
    depth: int = option(100, "Length of the whole list.", low=1, high=1_000)

    def __call__(
        self, question: Question, labels: Sequence[str], grounding: Grounding, kept: Ranking, limit: Limit
    ) -> Filled:
        """Return what follows the kept answers. Raises DeadlineExceeded."""
        limit.check(STAGE)
        types = tuple(labels) or self.adjacency.schema.answerable
        listed, grounded = set(kept.keys), set(grounding.found_in)
        missing = max(0, grounding.wanted - len(listed))
        depth = max(self.depth, grounding.wanted) - len(listed)
        found = self._found(question.text, types, depth, listed, grounded, limit)
        first = [one for one in found if one.key not in grounded][:missing]
        taken = {one.key for one in first}
        rest = [one for one in found if one.key not in taken]
        order = [*first, *rest][: max(0, depth)]
        return Filled(tuple(order), len(order), detail="" if self.vectors.kinds else NO_VECTORS)

    def _found(
        self, text: str, types: Sequence[str], depth: int, listed: set[int], grounded: set[int], limit: Limit
    ) -> list[Candidate]:
        """Return documents that are not listed, best first, `depth` of which were not grounded either if there are."""
        wanted = max(_AT_FIRST, 2 * depth)
        while True:
            limit.check(STAGE)
            found = self._nearest(text, types, wanted, limit)
            fresh = sum(one.key not in grounded and one.key not in listed for one in found)
            if fresh >= depth or len(found) < wanted or wanted >= self.adjacency.size:
                return [one for one in found if one.key not in listed]
            wanted *= 4

    def _nearest(self, text: str, types: Sequence[str], wanted: int, limit: Limit) -> list[Candidate]:
        if not self.vectors.kinds:
            return self.text.search(text, wanted, types)
        kind = self.kind if self.kind in self.vectors.kinds else WHOLE
        return self.vectors.nearest(kind, self.encoder.encode([text])[0], wanted, types, limit)
