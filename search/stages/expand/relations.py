"""The neighbours of entities that fit the question, as document triples: relation propagation and filtering of KAR.

Xia et al. 2025, section 4, equations 4 to 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from search.domain.evidence import Path, PathNode
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triples import DocumentTriple, DocumentTriples, EntityDocuments
from search.domain.vector_kinds import NAME, WHOLE
from search.edges import edges_between
from search.interfaces import Adjacency, Encoder, NodeStore, TextIndex, VectorIndex, VectorKind, Vectors
from search.stages.expand.documents import documents_of
from search.stages.expand.neighbours import neighbourhood

STAGE = "relations"
MOST_TRIPLES_OF_A_PAIR = 4
"""Most relations between an entity and one neighbour that become triples."""
BY_WORDS = "This release has no vectors: neighbours were chosen by the words that they share with the question."


@dataclass(frozen=True)
class RelateDocuments:
    """Keeps, of the neighbours of each entity, those whose documents are most similar to the question.

    Neighbours are the nodes within `hops` edges, over all relations in both directions. With `by` name, names are
    compared in place of documents: the paper's ablation without document-based filtering. The paper reads all edges;
    here a hop reads at most `edges` of them. Nodes most similar to the question are walked on from first, and a node
    with more edges than are left is passed over.
    """

    adjacency: Adjacency
    nodes: NodeStore
    encoder: Encoder
    vectors: VectorIndex
    text: TextIndex
    hops: int = option(2, "Largest number of steps between an entity and a neighbour.", low=1, high=4, public_high=3)
    top: int = option(10, "Number of neighbours that are kept for each entity.", low=1, high=100, public_high=20)
    by: str = option("document", "What of a neighbour is compared with the question.", choices=("document", "name"))
    edges: int = option(50_000, "Most relations read in a step.", low=100, high=5_000_000, public_high=100_000)

    def __call__(self, question: Question, entities: EntityDocuments, limit: Limit) -> DocumentTriples:
        """Return the triples of each entity, best neighbour first. Raises StageError and SearchCancelled."""
        scores = Similarities(self, question)
        walks: list[tuple[tuple[int, ...], float]] = []
        seen, passed = 0, 0
        for entity in entities.documents:
            near = neighbourhood(
                self.adjacency, scores, entity.node.key, self.hops, self.edges, lambda: limit.check(STAGE)
            )
            best = scores.in_order(near.parents)[: self.top]
            walks += [(near.walk(key), scores.of(key)) for key in best]
            seen, passed = seen + len(near.parents), passed + near.passed
        limit.check(STAGE)
        several = f"{passed:,} entities with many relations were" if passed > 1 else "1 entity with many relations was"
        hubs = f"{several} passed over." if passed else ""
        by_words = "" if self.vectors.kinds else BY_WORDS
        return DocumentTriples(
            tuple(self._triples(walks, limit)),
            seen,
            " ".join(filter(None, [by_words, hubs])),
            "ok" if self.vectors.kinds else "degraded",
        )

    def _triples(self, walks: Sequence[tuple[tuple[int, ...], float]], limit: Limit) -> list[DocumentTriple]:
        """Return a triple for each walk; one for each relation if a single edge leads to the neighbour."""
        on_walks = sorted({key for walk, _ in walks for key in walk})
        references = dict(zip(on_walks, self.nodes.references(on_walks), strict=True))
        ends = list(dict.fromkeys(walk[-1] for walk, _ in walks))
        texts = {one.node.key: one.text for one in documents_of(self.nodes, ends, limit)}
        found = []
        for walk, score in walks:
            choices = [list(edges_between(self.adjacency, near, far)) for near, far in pairwise(walk)]
            first = [edges[0] for edges in choices]
            several = [[edge] for edge in choices[0][:MOST_TRIPLES_OF_A_PAIR]] if len(choices) == 1 else [first]
            nodes = tuple(PathNode(references[key]) for key in walk)
            found += [DocumentTriple(Path(nodes, tuple(edges)), texts[walk[-1]], score) for edges in several]
        return found


class Similarities:
    """The similarity of the question and nodes, by key; looked up once for each node.

    It is the cosine of the question and the document (or name); in a release without vectors the BM25 score.
    """

    def __init__(self, stage: RelateDocuments, question: Question) -> None:
        self._stage = stage
        self._question = question
        self._known: dict[int, float] = {}

    def in_order(self, keys: Iterable[int]) -> list[int]:
        """Return keys by falling similarity, then by key."""
        listed = list(keys)
        self._look_up(listed)
        return sorted(listed, key=lambda key: (-self._known[key], key))

    def of(self, key: int) -> float:
        """Return the similarity of a node."""
        self._look_up([key])
        return self._known[key]

    def _look_up(self, keys: Sequence[int]) -> None:
        wanted = [key for key in keys if key not in self._known]
        if not wanted:
            return
        found: Mapping[int, float]
        if self._stage.vectors.kinds:
            kind: VectorKind = WHOLE if self._stage.by == "document" else NAME
            found, lowest = self._stage.vectors.cosines(self._vector, wanted, kind), -1.0
        else:
            found, lowest = self._by_words, 0.0
        self._known |= {key: found.get(key, lowest) for key in wanted}

    @cached_property
    def _vector(self) -> Vectors:
        vector: Vectors = self._stage.encoder.encode([self._question.text])[0]
        return vector

    @cached_property
    def _by_words(self) -> dict[int, float]:
        keys, scores = self._stage.text.matching(self._question.text)
        return dict(zip(keys.tolist(), scores.tolist(), strict=True))
