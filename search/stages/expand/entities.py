"""The entities of a question and their documents: the first two steps of KAR (Xia et al. 2025, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from search.asking import sentence
from search.domain.conversation import NO_MODEL
from search.domain.graph import Schema
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triples import EntityDocument, EntityDocuments, NamedEntities, NamedEntity
from search.domain.vector_kinds import WHOLE
from search.interfaces import Encoder, LanguageModel, MentionIndex, NodeStore, TextIndex, VectorIndex, Vectors
from search.language.entities import apart, entities
from search.prompts.expansion import ExpansionPrompts, entities_schema
from search.prompts.reading import json_by
from search.stages.expand.asking import SECONDS, SECONDS_HELP, asked
from search.stages.expand.documents import documents_of

INSTEAD = "names of the knowledge base were looked for in the question."
LONGEST_NAME, LONGEST_DOCUMENT = 200, 1_000
"""Characters of a name and of a document that a model writes which are read."""


@dataclass(frozen=True)
class ParseEntities:
    """Lets a language model say which entities the question names, each with a short document.

    The question itself is one more entity: it stands for the document that is looked for. Without a language model the
    names and aliases of the knowledge base are looked for in the question.
    """

    language_model: LanguageModel
    mentions: MentionIndex
    schema: Schema
    most: int = option(5, "Largest number of entities beside the question itself.", low=0, high=20, public_high=10)
    least: float = option(0.2, "Smallest probability of a name that is found without a model.", low=0, high=1)
    seconds: float = option(SECONDS, SECONDS_HELP, low=0.1, high=300.0, public_high=10.0)

    def __call__(self, question: Question, limit: Limit) -> NamedEntities:
        """Return the question and the entities that it names. Raises SearchCancelled."""
        limit.check("entities")
        itself = NamedEntity("", question.text)
        if not self.most:
            return NamedEntities((itself,))
        if not self.language_model.configured():
            return NamedEntities((itself, *self._by_names(question)), sentence(f"{NO_MODEL}: {INSTEAD}"), "degraded")
        form = entities_schema(self.schema, self.most)
        prompt = ExpansionPrompts(self.schema).entities(question.text, self.most, form)
        answer = asked(self.language_model, [prompt], json_by(form), limit, self.seconds)
        [value] = answer.values
        found = NamedEntities((itself,), prompt_fingerprint=answer.prompt_fingerprint)
        if value is None:
            said = f"{sentence(answer.said).rstrip('.')}: {INSTEAD}"
            return replace(found, entities=(itself, *self._by_names(question)), detail=said, status="degraded")
        return replace(found, entities=(itself, *filter(None, map(_entity, value["entities"]))))

    def _by_names(self, question: Question) -> list[NamedEntity]:
        found = apart(entities(question.text, self.mentions, self.schema, self.most))
        return [NamedEntity(one.text, one.text, keys=one.keys) for one in found if one.sure >= self.least]


def _entity(said: Mapping[str, Any]) -> NamedEntity | None:
    """Return an entity that the model named, None if it has no name."""
    name, document = str(said["name"]).strip()[:LONGEST_NAME], str(said["document"]).strip()[:LONGEST_DOCUMENT]
    return NamedEntity(name, document or name, str(said["type"])) if name else None


@dataclass(frozen=True)
class RetrieveEntities:
    """Retrieves the document of each entity: the nearest by vectors among the nodes of its type.

    A node with exactly the entity's name is taken instead (ours): names say more than vectors. Of several such nodes
    the one nearest to the question is taken. A release without vectors is searched by words.
    """

    mentions: MentionIndex
    nodes: NodeStore
    schema: Schema
    encoder: Encoder
    vectors: VectorIndex
    text: TextIndex
    exact: bool = option(True, "Whether an entity with exactly this name is taken before the nearest document.")

    def __call__(self, question: Question, named: NamedEntities, limit: Limit) -> EntityDocuments:
        """Return the documents; an entity without one is left out. Raises StageError."""
        limit.check("documents")
        # One call a text, so that a vector does not depend on the other texts of its call.
        texts = [question.text, *(entity.document for entity in named.entities)]
        vectors = [self.encoder.encode([text])[0] for text in texts]
        found: dict[int, str] = {}
        for entity, own in zip(named.entities, vectors[1:], strict=True):
            limit.check("documents")
            key = self._named(entity, vectors[0])
            key = self._nearest(entity, own, limit) if key is None else key
            if key is not None:
                found[key] = found.get(key) or entity.name
        read = documents_of(self.nodes, list(found), limit)
        documents = [EntityDocument(found[one.node.key], one.node, one.text) for one in read]
        return EntityDocuments(tuple(documents))

    def _named(self, entity: NamedEntity, asked: Vectors) -> int | None:
        """Return the node with the entity's name, or None; of several, the one nearest to the question."""
        if not entity.name or not (self.exact or entity.keys):
            return None
        keys = np.array(sorted(entity.keys or self.mentions.lookup(entity.name)), dtype=np.int32)
        if entity.label and len(keys):
            keys = keys[self.nodes.types(keys) == self.schema.type_codes[entity.label]]
        if len(keys) < 2:
            return int(keys[0]) if len(keys) else None
        cosines = self.vectors.cosines(asked, keys.tolist())
        return int(min(keys.tolist(), key=lambda key: (-cosines.get(key, -1.0), key)))

    def _nearest(self, entity: NamedEntity, vector: Vectors, limit: Limit) -> int | None:
        labels = [entity.label] if entity.label else []
        if self.vectors.kinds:
            found = self.vectors.nearest(WHOLE, vector, 1, labels, limit)
        else:
            found = self.text.search(entity.document, 1, labels)
        return found[0].key if found else None
