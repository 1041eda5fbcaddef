"""KAR: knowledge-aware query expansion (Xia et al. 2025, section 4 and figure 2).

Entities of the question → their documents → the neighbours that fit the question, as document triples → a language
model writes what answers the question from these → the question and what was written are searched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from search.domain.evidence import Path, Result
from search.domain.expansion import Expansion
from search.domain.flow import stage
from search.domain.fusion import Fusion
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Trace
from search.domain.triples import DocumentTriples, EntityDocuments, NamedEntities
from search.interfaces import RetrieveStage


class EntitiesStage(Protocol):
    """Question → its entities."""

    def __call__(self, question: Question, limit: Limit) -> NamedEntities:
        """Return the entities that a question names, and the question itself as one more."""
        ...


class DocumentsStage(Protocol):
    """Entities → their documents."""

    def __call__(self, question: Question, named: NamedEntities, limit: Limit) -> EntityDocuments:
        """Return the document of each entity that has one."""
        ...


class RelationsStage(Protocol):
    """Documents of entities → document triples."""

    def __call__(self, question: Question, entities: EntityDocuments, limit: Limit) -> DocumentTriples:
        """Return the triples of the neighbours that fit the question."""
        ...


class ExpandByTriplesStage(Protocol):
    """Question and triples → the text that is searched."""

    def __call__(
        self, question: Question, entities: EntityDocuments, triples: DocumentTriples, limit: Limit
    ) -> Expansion:
        """Return the question with what was made of the triples."""
        ...


class ExplainPathsStage(Protocol):
    """The final list → results, explained by paths."""

    def __call__(
        self, question: Question, fusion: Fusion, paths: Mapping[int, Sequence[Path]], limit: Limit
    ) -> list[Result]:
        """Return the first `question.k` results, with the paths of their keys."""
        ...


@dataclass(frozen=True, kw_only=True)
class KarStages:
    """The stages of KAR; without `relations` it is the paper's ablation without the graph."""

    entities: EntitiesStage = stage("other", "Entities", "Looking for the entities of the question")
    documents: DocumentsStage = stage("other", "Documents", "Retrieving the documents of the entities")
    relations: RelationsStage | None = stage("other", "Relations", "Choosing relations that fit", optional=True)
    expand: ExpandByTriplesStage = stage("expand", "Expand", "Writing what answers the question")
    retrieve: RetrieveStage = stage("text list", "Retrieve", "Searching for the longer text", list_name="text")
    explain: ExplainPathsStage = stage("explain", "Explain", "Naming the relations of each result")


def search(question: Question, stages: KarStages, trace: Trace) -> Ranking:
    """Return the documents found with an expansion by what the graph says of the question's entities."""
    named = trace.step("entities", "other", stages.entities, question, trace.limit)
    entities = trace.step("documents", "other", stages.documents, question, named, trace.limit)
    triples = DocumentTriples()
    if stages.relations is None:
        trace.skip("relations", "other", "Asked without the graph.")
    else:
        triples = trace.step("relations", "other", stages.relations, question, entities, trace.limit)
    expansion = trace.step("expand", "expand", stages.expand, question, entities, triples, trace.limit)
    text = trace.step("retrieve", "text list", stages.retrieve, expansion.asked(question), trace.limit)
    fusion = Fusion.single("text", text)
    trace.step("explain", "explain", stages.explain, question, fusion, triples.paths(), trace.limit)
    return fusion.ranking
