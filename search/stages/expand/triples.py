"""Adds to the question what the graph says of its entities: the last step of KAR (Xia et al. 2025, equation 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from search.domain.cutting import shares, shortened
from search.domain.evidence import Path
from search.domain.expansion import Expansion, ExpansionPart
from search.domain.graph import Schema
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triples import DocumentTriple, DocumentTriples, EntityDocuments
from search.interfaces import LanguageModel
from search.prompts.expansion import ExpansionPrompts
from search.stages.expand.asking import SECONDS, SECONDS_HELP, with_texts, written
from search.stages.expand.feedback import EACH, EACH_HELP, TOTAL, TOTAL_HELP
from search.stages.expand.reply import document_for
from search.text import words

NOTHING = "Neither an entity nor a relation was found: the documents were searched for the question alone."


@dataclass(frozen=True)
class ExpandByTriples:
    """Lets a language model write documents from the question and the document triples, and appends them.

    Three documents are drawn for one prompt (section 5.3). Without a language model, the triples most similar to the
    question are appended themselves, without rewriting; without triples, the documents of the entities.
    """

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    schema: Schema
    samples: int = option(3, "Number of documents that the model writes.", low=1, high=10, public_high=3)
    temperature: float = option(0.7, "Temperature of the model.", low=0.0, high=2.0)
    knowledge: int = option(
        24_000, "Most characters of the documents and relations in the prompt; the longest documents are cut first.",
        low=1_000, high=200_000, public_high=24_000,
    )  # fmt: skip
    seconds: float = option(SECONDS, SECONDS_HELP, low=0.1, high=300.0, public_high=10.0)
    appended: int = option(3, "Number of triples that are appended if no model rewrites them.", low=1, high=100)
    each: int = option(EACH, EACH_HELP, low=100, high=10_000)
    total: int = option(TOTAL, TOTAL_HELP, low=100, high=20_000)

    def __call__(
        self, question: Question, entities: EntityDocuments, triples: DocumentTriples, limit: Limit
    ) -> Expansion:
        """Return the question and what the model wrote, or the triples. Raises SearchCancelled."""
        limit.check("expand")
        if not entities.documents:
            return Expansion.of(question, [], each=self.each, total=self.total, detail=NOTHING)
        prompts = ExpansionPrompts(self.schema).expand(
            question.text, knowledge_text(entities, triples, self.knowledge), self.samples, self.temperature
        )
        answer = written(self.language_model, prompts, document_for(question.text), limit, self.seconds)
        said = "The triples were appended without rewriting." if triples.triples else "Documents were appended."
        instead = self._instead(entities, triples)
        return with_texts(question, answer, instead, said, each=self.each, total=self.total)

    def _instead(self, entities: EntityDocuments, triples: DocumentTriples) -> list[ExpansionPart]:
        """Return the best triples, each neighbour once; without triples the documents of the entities."""
        best: dict[int, DocumentTriple] = {}
        for triple in sorted(triples.triples, key=lambda triple: -triple.score):
            best.setdefault(triple.far.key, triple)
        if not best:
            return [ExpansionPart(one.text, "document", one.node) for one in entities.documents]
        return [
            ExpansionPart(f"{walk_words(triple.path)}\n{triple.text}", "triple", triple.far, triple.path)
            for triple in list(best.values())[: self.appended]
        ]


def walk_words(path: Path) -> str:
    """Return the edges of a walk as plain words, each in its stored direction, for a text that is searched.

    The walk from Ann to Gale over the film Tide: `Tide directed by Ann; Tide sequel Gale`.
    """
    said = []
    for edge, near, far in zip(path.edges, path.nodes, path.nodes[1:], strict=False):
        source, target = (near, far) if edge.direction == "out" else (far, near)
        said.append(f"{source.node.name} {words(edge.relation)} {target.node.name}")
    return "; ".join(said)


def knowledge_text(entities: EntityDocuments, triples: DocumentTriples, most: int) -> str:
    """Return documents, each once with a number, and the triples as lines between these numbers.

    `[1] <-[directed by]- [3]` is an edge that is stored from the third document to the first. The longest documents are
    cut first, so that the text has about `most` characters.
    """
    texts = {one.node.key: one.text for one in entities.documents}
    texts |= {triple.far.key: triple.text for triple in triples.triples}
    number = {key: f"[{at}]" for at, key in enumerate(texts, 1)}
    lines = list(dict.fromkeys(_line(triple.path, number) for triple in triples.triples))
    room = shares(list(map(len, texts.values())), max(0, most - sum(map(len, lines))))
    cut = [shortened(text, room[at]) for at, text in enumerate(texts.values())]
    documents = [f"{label} {text}" for label, text in zip(number.values(), cut, strict=True)]
    return "\n\n".join([*documents, *(["\n".join(lines)] if lines else [])])


def _line(path: Path, number: dict[int, str]) -> str:
    said = [_label(path, 0, number)]
    for at, edge in enumerate(path.edges, 1):
        relation = words(edge.relation)
        said.append(f"-[{relation}]->" if edge.direction == "out" else f"<-[{relation}]-")
        said.append(_label(path, at, number))
    return " ".join(said)


def _label(path: Path, at: int, number: dict[int, str]) -> str:
    """Return the number of a node's document, or its name if its document is not there."""
    node = path.nodes[at].node
    return number.get(node.key, node.name)
