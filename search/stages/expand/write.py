"""A language model writes the document of an answer, and it is searched with the question: HyDE and RAR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from search.domain.expansion import Expansion
from search.domain.fusion import Fusion
from search.domain.graph import Schema
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.domain.written import Written
from search.interfaces import LanguageModel, NodeStore
from search.prompts.expansion import ExpansionPrompts
from search.stages.expand.asking import SECONDS, SECONDS_HELP, with_texts, written
from search.stages.expand.documents import FoundDocument, documents_of, heads_of, numbered
from search.stages.expand.feedback import EACH, EACH_HELP, TOTAL, TOTAL_HELP
from search.stages.expand.reply import document_for

ALONE = "The documents were searched for the question alone."
SHOWN = 1_500
SHOWN_HELP = "Most characters of each document in the prompt; what is longer is cut."


@dataclass(frozen=True)
class WriteDocuments:
    """Lets a language model write documents that answer the question, and appends them to it.

    Without a first retrieval these are hypothetical documents (HyDE, Gao et al. 2023). With one, the prompt shows the
    first documents found (RAR, Shen et al. 2024). Several documents are drawn for one prompt (KAR, section 5.3: three).
    Without a language model the documents found are appended themselves; HyDE then searches for the question alone.
    """

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    nodes: NodeStore
    schema: Schema
    documents: int = option(3, "Number of found documents that the prompt shows.", low=1, high=20, public_high=10)
    samples: int = option(3, "Number of documents that the model writes.", low=1, high=10, public_high=3)
    temperature: float = option(0.7, "Temperature of the model.", low=0.0, high=2.0)
    shown: int = option(SHOWN, SHOWN_HELP, low=100, high=10_000, public_high=2_000)
    seconds: float = option(SECONDS, SECONDS_HELP, low=0.1, high=300.0, public_high=10.0)
    each: int = option(EACH, EACH_HELP, low=100, high=10_000)
    total: int = option(TOTAL, TOTAL_HELP, low=100, high=20_000)

    def __call__(self, question: Question, found: Sequence[Ranking | Fusion], limit: Limit) -> Expansion:
        """Return the question and what the model wrote. Raises StageError if documents cannot be read."""
        limit.check("expand")
        documents = documents_of(self.nodes, heads_of(found, self.documents), limit)
        name, slots = ("rar", {"documents": numbered(documents, self.shown)}) if documents else ("hyde", {})
        prompts = ExpansionPrompts(self.schema).ask(name, question.text, self.samples, self.temperature, **slots)
        answer = written(self.language_model, prompts, document_for(question.text), limit, self.seconds)
        return with_documents(question, answer, documents, each=self.each, total=self.total)


def with_documents(
    question: Question, answer: Written, documents: Sequence[FoundDocument], *, each: int, total: int
) -> Expansion:
    """Return the question and the written texts; without any, the documents instead, which is said."""
    said = "The documents found first were appended themselves." if documents else ALONE
    return with_texts(question, answer, [one.part() for one in documents], said, each=each, total=total)
