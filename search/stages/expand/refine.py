"""AGR (Chen et al. 2024, as in KAR, appendix A): analyse the question, write documents, write them again, refine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from search.asking import sentence
from search.domain.conversation import NO_MODEL
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
from search.prompts.reading import text_within
from search.stages.expand.asking import SECONDS, SECONDS_HELP, written
from search.stages.expand.documents import documents_of, heads_of, numbered
from search.stages.expand.feedback import EACH, EACH_HELP, TOTAL, TOTAL_HELP
from search.stages.expand.reply import document_for
from search.stages.expand.write import SHOWN, SHOWN_HELP, with_documents

KEYWORDS, ANALYSIS = 400, 1_500
"""Most characters of the keywords and of the analysis."""
MOST_DOCUMENTS = 9
"""Most documents in a prompt: three for each of three drafts (KAR, table 7)."""
NOT_ASKED = "The model was not asked, because the step before gave nothing."


@dataclass(frozen=True)
class Analyse:
    """Extracts keywords from the question, then analyses it by them, without answering it: two calls."""

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    schema: Schema
    seconds: float = option(SECONDS, SECONDS_HELP, low=0.1, high=300.0, public_high=10.0)

    def __call__(self, question: Question, limit: Limit) -> Written:
        """Return the keywords and the analysis, or nothing."""
        limit.check("analyse")
        prompts = ExpansionPrompts(self.schema)
        keywords = written(
            self.language_model, prompts.ask("keywords", question.text), text_within(KEYWORDS), limit, self.seconds
        )
        if not keywords.texts:
            return keywords
        prompt = prompts.ask("analysis", question.text, keywords=keywords.texts[0])
        analysis = written(self.language_model, prompt, text_within(ANALYSIS), limit, self.seconds)
        return replace(analysis, texts=keywords.texts + analysis.texts if analysis.texts else ())


@dataclass(frozen=True)
class RefinedDraft:
    """Lets the model write documents from the analysis alone; each of them is then searched for."""

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    schema: Schema
    samples: int = option(3, "Number of drafts.", low=1, high=10, public_high=3)
    temperature: float = option(0.7, "Temperature of the model.", low=0.0, high=2.0)
    seconds: float = option(SECONDS, SECONDS_HELP, low=0.1, high=300.0, public_high=10.0)

    def __call__(self, question: Question, analysis: Written, limit: Limit) -> Written:
        """Return the drafts; none without an analysis."""
        limit.check("draft")
        if not analysis.texts:
            return Written(detail=NOT_ASKED)
        prompts = ExpansionPrompts(self.schema).ask(
            "draft", question.text, self.samples, self.temperature, analysis=analysis.texts[-1]
        )
        return written(self.language_model, prompts, document_for(question.text), limit, self.seconds)


@dataclass(frozen=True)
class Generate:
    """Lets the model write candidates while it sees the documents that the drafts found."""

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    nodes: NodeStore
    schema: Schema
    documents: int = option(3, "Number of found documents for each draft.", low=1, high=20, public_high=3)
    samples: int = option(3, "Number of drafts.", low=1, high=10, public_high=3)
    temperature: float = option(0.7, "Temperature of the model.", low=0.0, high=2.0)
    shown: int = option(SHOWN, SHOWN_HELP, low=100, high=10_000, public_high=2_000)
    seconds: float = option(SECONDS, SECONDS_HELP, low=0.1, high=300.0, public_high=10.0)

    def __call__(self, question: Question, drafts: Written, found: Sequence[Ranking | Fusion], limit: Limit) -> Written:
        """Return the candidates; none without drafts. If the model fails now, the drafts are the candidates."""
        limit.check("generate")
        if not drafts.texts:
            return Written(detail=NOT_ASKED)
        keys = heads_of(found, self.documents)[:MOST_DOCUMENTS]
        documents = numbered(documents_of(self.nodes, keys, limit), self.shown)
        prompts = ExpansionPrompts(self.schema).ask(
            "rar", question.text, self.samples, self.temperature, purpose="generate", documents=documents
        )
        answer = written(self.language_model, prompts, document_for(question.text), limit, self.seconds)
        if answer.texts:
            return answer
        return replace(answer, texts=drafts.texts, detail=f"{answer.said} The drafts were taken instead.")


@dataclass(frozen=True)
class Refine:
    """Lets the model compare the candidates and write the document that is searched."""

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    nodes: NodeStore
    schema: Schema
    samples: int = option(3, "Number of documents that the model writes.", low=1, high=10, public_high=3)
    temperature: float = option(0.7, "Temperature of the model.", low=0.0, high=2.0)
    shown: int = option(SHOWN, SHOWN_HELP, low=100, high=10_000, public_high=2_000)
    seconds: float = option(SECONDS, SECONDS_HELP, low=0.1, high=300.0, public_high=10.0)
    appended: int = option(3, "Number of found documents that are appended if no model writes any.", low=1, high=20)
    each: int = option(EACH, EACH_HELP, low=100, high=10_000)
    total: int = option(TOTAL, TOTAL_HELP, low=100, high=20_000)

    def __call__(
        self, question: Question, candidates: Written, found: Sequence[Ranking | Fusion], limit: Limit
    ) -> Expansion:
        """Return the question with the refined documents.

        If the model fails now, the candidates are appended as they are; without candidates, the documents found.
        """
        limit.check("refine")
        answer = self._refined(question, candidates, limit)
        if not answer.texts and candidates.texts:
            answer = replace(answer, texts=candidates.texts, said=f"{answer.said} The drafts were taken instead.")
        documents = [] if answer.texts else documents_of(self.nodes, heads_of(found, self.appended), limit)
        return with_documents(question, answer, documents, each=self.each, total=self.total)

    def _refined(self, question: Question, candidates: Written, limit: Limit) -> Written:
        if not candidates.texts:
            said = NOT_ASKED if self.language_model.configured() else sentence(f"{NO_MODEL}.")
            return Written(said=said)
        listed = "\n\n".join(f"[{at}] {text[: self.shown]}" for at, text in enumerate(candidates.texts, 1))
        prompts = ExpansionPrompts(self.schema).ask(
            "refine", question.text, self.samples, self.temperature, candidates=listed
        )
        return written(self.language_model, prompts, document_for(question.text), limit, self.seconds)
