"""Entities of a question, their documents, and triples of documents that the graph joins (KAR, Xia et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from search.domain.evidence import Path
from search.domain.graph import Node
from search.domain.trace import StepStatus


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity of a question: its name there, and the text that its document is looked for with.

    `label` is its type, empty if it is not known. `keys` are the nodes with this name, if the name index found them.
    The question itself is an entity without a name.
    """

    name: str
    document: str
    label: str = ""
    keys: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return name, type and text."""
        return {"name": self.name, "type": self.label, "document": self.document}


@dataclass(frozen=True)
class NamedEntities:
    """The entities of a question, the question itself first; the other fields are those of the step."""

    entities: tuple[NamedEntity, ...]
    detail: str = ""
    status: StepStatus = "ok"
    prompt_fingerprint: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the entities."""
        return {"entities": [entity.to_json() for entity in self.entities]}


@dataclass(frozen=True, slots=True)
class EntityDocument:
    """The document that was retrieved for an entity; `name` is empty for that of the question itself."""

    name: str
    node: Node
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return the entity's name in the question, and its node."""
        return {"name": self.name, "node": self.node.to_json()}


@dataclass(frozen=True)
class EntityDocuments:
    """The documents of the entities, each node once; `detail` and `status` are those of the step."""

    documents: tuple[EntityDocument, ...] = ()
    detail: str = ""
    status: StepStatus = "ok"

    def to_json(self) -> dict[str, Any]:
        """Return the documents without their texts."""
        return {"documents": [document.to_json() for document in self.documents]}


@dataclass(frozen=True, slots=True)
class DocumentTriple:
    """Document, relation, document: `path` leads from an entity to a neighbour; `text` is the neighbour's document.

    `score` is the similarity of question and neighbour, by which it was kept.
    """

    path: Path
    text: str
    score: float

    @property
    def far(self) -> Node:
        """The neighbour."""
        return self.path.nodes[-1].node

    def to_json(self) -> dict[str, Any]:
        """Return walk and score."""
        return {"path": self.path.to_json(), "score": self.score}


@dataclass(frozen=True)
class DocumentTriples:
    """The triples of all entities, in the order of the entities, then by falling score.

    `neighbours` is the number of nodes among which they were chosen. `detail` and `status` are those of the step.
    """

    triples: tuple[DocumentTriple, ...] = ()
    neighbours: int = 0
    detail: str = ""
    status: StepStatus = "ok"

    def paths(self) -> dict[int, tuple[Path, ...]]:
        """Return key of a neighbour → the walks of its triples, for the evidence of a result."""
        found: dict[int, tuple[Path, ...]] = {}
        for triple in self.triples:
            found[triple.far.key] = (*found.get(triple.far.key, ()), triple.path)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the triples, and the number of neighbours."""
        return {"triples": [triple.to_json() for triple in self.triples], "neighbours": self.neighbours}
