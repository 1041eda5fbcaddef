"""Adds the first documents found to the question: pseudo relevance feedback (PRF)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.expansion import Expansion
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.interfaces import NodeStore
from search.stages.expand.documents import documents_of, heads_of

EACH = 1_000
"""Most characters of a part: about the 256 tokens that the encoder of this site reads of a text."""
TOTAL = 8_000
EACH_HELP = "Most characters of each added part; what is longer is cut."
TOTAL_HELP = "Most characters of all added parts together; the longest parts are cut first."


@dataclass(frozen=True)
class AppendDocuments:
    """Appends the first documents of a first retrieval to the question (as in KAR, section 5.2, and its n = 3)."""

    nodes: NodeStore
    documents: int = option(3, "Number of documents that are appended.", low=1, high=20)
    each: int = option(EACH, EACH_HELP, low=100, high=10_000)
    total: int = option(TOTAL, TOTAL_HELP, low=100, high=20_000)

    def __call__(self, question: Question, found: Sequence[Ranking | Fusion], limit: Limit) -> Expansion:
        """Return the question and the documents. Without any, the question alone is searched, and that is said."""
        limit.check("expand")
        documents = documents_of(self.nodes, heads_of(found, self.documents), limit)
        parts = [one.part() for one in documents]
        told = "" if parts else "The first search found no document: the question alone was searched."
        return Expansion.of(question, parts, each=self.each, total=self.total, detail=told)
