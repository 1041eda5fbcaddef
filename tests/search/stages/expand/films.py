"""A few films for the stages that expand questions: real adjacency and name index, vectors written down by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters import mentions_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.graph import Node
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from tests.graphs import Nodes, schema_of, write_adjacency
from tests.oracle import Graph

ANN, TIDE, GALE, BO, REEF, LONE = range(6)
FILMS = Graph(
    nodes=(
        Node(ANN, "a", "person", "Ann Arbor"),
        Node(TIDE, "b", "film", "Tide", fields={"about": "A harbour at night."}),
        Node(GALE, "c", "film", "Gale", fields={"about": "A storm takes the pier."}),
        Node(BO, "d", "person", "Bo Derrin"),
        Node(REEF, "e", "film", "Reef", fields={"about": "Divers, and what they find."}),
        Node(LONE, "f", "film", "Lone", fields={"about": "A film without a crew."}),
    ),
    edges=(
        (TIDE, "directed_by", ANN),
        (GALE, "directed_by", ANN),
        (GALE, "written_by", ANN),
        (GALE, "starring", BO),
        (REEF, "starring", BO),
    ),
)
ASKED = "What did Ann Arbor film by the sea?"
DOCUMENT, NAME = "document+relations", "name"


class Similar:
    """Encoder and vectors in one: the cosine of the question and a node by kind, from a table; 0 where it has none."""

    name = "table@1"
    dimensions = 1

    def __init__(self, table: Mapping[str, Mapping[int, float]]) -> None:
        self.table = table
        self.kinds = frozenset(table)
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        return np.ones((len(texts), 1), dtype=np.float32)

    def cosines(self, vector: Any, keys: Sequence[int], kind: str = DOCUMENT) -> dict[int, float]:
        return {key: self.table[kind].get(key, 0.0) for key in keys}

    def nearest(
        self, kind: str, vector: Any, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        of = {node.key: node.type for node in FILMS.nodes}
        found = [Candidate(key, score) for key, score in self.table[kind].items() if not labels or of[key] in labels]
        return sorted(found, key=lambda one: (-one.score, one.key))[:k]


class Words:
    """A text index in which the given nodes match any text, with these scores."""

    def __init__(self, scores: Mapping[int, float]) -> None:
        self.scores = scores
        self.searched: list[str] = []

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Candidate]:
        self.searched.append(text)
        order = sorted(self.scores, key=lambda key: (-self.scores[key], key))
        return [Candidate(key, self.scores[key]) for key in order[:k]]

    def matching(self, text: str, field: str | None = None) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        keys = sorted(self.scores)
        return np.array(keys, dtype=np.int32), np.array([self.scores[key] for key in keys], dtype=np.float32)


def tools_of(
    folder: Path,
    graph: Graph = FILMS,
    similar: Mapping[str, Mapping[int, float]] | None = None,
    words: Mapping[int, float] | None = None,
) -> dict[str, Any]:
    """Return the tools over a graph by name: `encoder` and `vectors` are the same table."""
    schema = schema_of(graph)
    for part in ("adjacency", "mentions"):
        (folder / part).mkdir()
    write_adjacency(graph, schema, folder / "adjacency")
    mentions_memmap.build(folder / "mentions", [(node.key, node.name, False) for node in graph.nodes])
    table = Similar(similar or {})
    return {
        "schema": schema,
        "mentions": MemmapMentions(folder / "mentions"),
        "adjacency": MemmapAdjacency(folder / "adjacency", schema),
        "nodes": Nodes(graph, schema),
        "encoder": table,
        "vectors": table,
        "text": Words(words or {}),
    }


def taken(tools: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return some of the tools."""
    return {name: tools[name] for name in names}
