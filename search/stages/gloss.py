"""Adds to a question in another language its words in the language of the knowledge base, for text retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.expansion import Expansion, ExpansionPart
from search.domain.fusion import Fusion
from search.domain.question import LONGEST_QUESTION, Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.interfaces import Adjacency
from search.language.detection import language_of
from search.language.gloss import gloss


@dataclass(frozen=True)
class Gloss:
    """Reads a question word by word in the base's language and appends that to the question (docs/language.md).

    The words that were asked stay: names among them are spelt alike in documents of any language, and a word that the
    dictionary does not have may be one. This stage has no options, and a question in the base's language is left alone.
    """

    adjacency: Adjacency

    def reads(self, question: Question) -> bool:
        """Whether the question has words in another language than the base's that the dictionary knows."""
        return bool(self._read(question))

    def __call__(self, question: Question, found: Sequence[Ranking | Fusion], limit: Limit) -> Expansion:
        """Return the question and its words in the base's language; `found` is not used."""
        limit.check("gloss")
        read = self._read(question)
        parts = [ExpansionPart(read, "gloss")] if read else []
        return Expansion.of(question, parts, each=LONGEST_QUESTION, total=LONGEST_QUESTION)

    def _read(self, question: Question) -> str:
        into = self.adjacency.schema.language
        text = question.text[:LONGEST_QUESTION]
        read = gloss(text, language_of(text, into), into)
        return read.text if read.read and read.changed else ""
