"""Protocols: what each stage does, and what each tool must offer. Stages and pipelines know these and nothing more.

Nodes are named by their key, an int: the position in the snapshot, in the bytewise order of ids. Vectors are
unit-length float32 arrays, so that a dot product is a cosine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search.domain.conditions import CheckedConditions
from search.domain.conversation import Completion, Prompt
from search.domain.errors import StageError
from search.domain.evidence import Path, Result
from search.domain.fusion import Fusion
from search.domain.graph import Direction, FieldValue, Node, Schema
from search.domain.linking import GraphRanking, LinkedPlan, Reach, Traversal
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit, Trace
from search.domain.vector_kinds import WHOLE

Vectors = NDArray[np.float32]
Keys = NDArray[np.int32]
VectorKind = str
"""One of those that `search.domain.vector_kinds` lists; which ones there are, each vector set says."""

# ---------------------------------------------------------------------------------------------------------------- tools


class Encoder(Protocol):
    """Turns texts into vectors."""

    name: str
    """Model and revision: vectors of encoders with different names are never compared."""
    dimensions: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row a text, shape (len(texts), dimensions). Texts too long for the model are cut."""
        ...


class NodeStore(Protocol):
    """Looks nodes up."""

    def ids(self, keys: Sequence[int]) -> list[str]:
        """Return the ids of these keys, in their order."""
        ...

    def references(self, keys: Sequence[int]) -> list[Node]:
        """Return id, type and name of these keys, in their order, without fields: fast, from memory-mapped files."""
        ...

    def nodes(self, keys: Sequence[int], limit: Limit | None = None) -> list[Node]:
        """Return whole nodes, in the order of the keys. Raises StageError, DeadlineExceeded when the time ran out."""
        ...

    def keys(self, ids: Sequence[str]) -> list[int | None]:
        """Return the key of each id, None where the snapshot has no such node."""
        ...

    def types(self, keys: Sequence[int] | Keys) -> NDArray[np.int16]:
        """Return the type code of each key."""
        ...

    def values(self, label: str, field: str, n: int = 1000) -> list[FieldValue]:
        """Return values of a field of a type's nodes: about n, taken evenly from all nodes, always the same ones."""
        ...

    def neighbour_names(self, key: int, limit: int = 10) -> dict[str, list[str]]:
        """Return up to `limit` names of neighbours a relation, both directions together, for a document."""
        ...


class VectorIndex(Protocol):
    """Nearest neighbours among the vectors of a release."""

    def nearest(
        self, kind: VectorKind, vector: Vectors, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        """Return the k nodes of the given types (none: all) with the highest cosine, best first.

        A node with several vectors of the kind counts by the best. Raises a permanent StageError for a kind that the
        release's vector set does not have.
        """
        ...

    def cosines(self, vector: Vectors, keys: Sequence[int], kind: VectorKind = WHOLE) -> dict[int, float]:
        """Return the cosine of each key's vector of a kind, the best of several; a key without one is left out.

        Those of documents come without a journey: thousands of keys take about a millisecond. Raises a permanent
        StageError for a kind that the release's vector set does not have.
        """
        ...

    def sample(self, label: str, n: int = 1000, limit: Limit | None = None) -> list[int]:
        """Return up to n keys of a type, always the same ones: the background that a cosine is held against.

        Raises StageError, DeadlineExceeded when the limit's time ran out.
        """
        ...


class TextIndex(Protocol):
    """BM25 over the documents of a release, whole or by field."""

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Candidate]:
        """Return the k best nodes of the given types (none: all), best first, only those that match a word at all.

        `field` is a field's name, or `relation:<name>`: the names of the neighbours over a relation. Raises a permanent
        StageError for one that the index does not have.
        """
        ...


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of the question that names nodes.

    `start` and `end` are offsets into the question; `keys` every node with that name or alias; `exact` when case
    agrees with the stored name; `similarity` below 1 where the spelling was mended.
    """

    start: int
    end: int
    text: str
    keys: tuple[int, ...]
    exact: tuple[bool, ...] = ()
    similarity: float = 1.0


class MentionIndex(Protocol):
    """Finds names and aliases of nodes in a text."""

    def find(self, text: str) -> list[Mention]:
        """Return every stretch of whole words that is a name or alias, overlapping ones included, longest first."""
        ...

    def lookup(self, name: str) -> tuple[int, ...]:
        """Return the nodes whose name or alias, normalised, is `name`, normalised."""
        ...


class Adjacency(Protocol):
    """The graph of a release in memory-mapped arrays."""

    @property
    def schema(self) -> Schema:
        """The schema of the release."""
        ...

    def neighbours(self, keys: Keys, relation: int, direction: Direction) -> Keys:
        """Return the distinct neighbours of a set of nodes over one relation (its code), sorted."""
        ...

    def degree(self, key: int, relation: int, direction: Direction) -> int:
        """Return how many edges of a relation a node has in one direction."""
        ...

    def has_edges(self, keys: Keys) -> list[tuple[int, Direction]]:
        """Return the (relation, direction) pairs over which any of these nodes has an edge."""
        ...

    def counts(self, keys: Keys) -> dict[tuple[int, Direction], int]:
        """Return how many edges a set of nodes has over each (relation, direction): what `neighbours` would read."""
        ...

    @property
    def size(self) -> int:
        """Number of nodes."""
        ...

    def whole(self, direction: Direction) -> tuple[NDArray[np.int64], Keys]:
        """Return the whole graph in one direction as compressed rows, over all relations together.

        The first array, shape (nodes + 1,), says where the neighbours of each key begin in the second, shape (edges,).
        A neighbour that is reached over two relations stands there twice. Both are read only and shared.
        """
        ...


class GraphStore(Protocol):
    """Executes linked plans. What a match is, is the same for every engine: see docs/architecture.md."""

    backend: str

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return every node that T takes in a match, with the largest sum of its anchors' cosines.

        At most `rows` candidates, the best ones; `truncated` says that there were more or that the search was capped.
        Raises StageError when the engine fails, DeadlineExceeded when the limit's time ran out.
        """
        ...

    def paths(
        self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1
    ) -> dict[int, list[tuple[Path, ...]]]:
        """Return up to `most` best matches for each key that T can take: per match one path an anchor, in their order.

        Keys that no match reaches are absent.
        """
        ...

    def matching(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match, without their paths: many keys in one statement.

        The plan may have no anchors: then it says what hops and filters demand of the keys. Raises StageError where it
        is not known of every key, DeadlineExceeded when the limit's time ran out.
        """
        ...


class LanguageModel(Protocol):
    """Answers prompts."""

    def configured(self) -> bool:
        """Whether there is a model to ask, at this moment: one may be added while searches run."""
        ...

    def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
        """Return for each prompt, in their order, its completion or the error that says why there is none.

        The prompts are answered at the same time as far as the server allows. Raises StageError where no prompt can be
        asked at all (no model configured, the limit's time ran out), SearchCancelled when nobody wants the answer.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlanTable:
    """Candidate plans of some questions as a learned scorer sees them.

    `features`: float32, shape (plans, features). `question`: int64, (plans,), the question of each plan, sorted.
    `asked`: vectors of questions with one mention masked, (mentions, dimensions); every question has one at least.
    `owner`: int64, (mentions,), the question of each of them, sorted. `branches`: int64, (branches, 3): plan, place in
    `asked`, place of the branch's path among the paths.
    """

    features: NDArray[np.float32]
    question: NDArray[np.int64]
    asked: Vectors
    owner: NDArray[np.int64]
    branches: NDArray[np.int64]


class PlanScorer(Protocol):
    """Scores candidate plans; learned from questions and their answers."""

    name: str
    encoder: str
    """The encoder whose vectors it was learned on; no other will do."""
    features: tuple[str, ...]
    types: frozenset[str]
    relations: frozenset[str]
    """The node types and relations that there were when it was learned."""

    def vector(self, path: str) -> Vectors | None:
        """Return the vector of a path by its key, shape (dimensions,); None where it was never seen."""
        ...

    def map_paths(self, vectors: Vectors) -> Vectors:
        """Map vectors of paths, or of their wordings, shape (paths, dimensions), once for all questions."""
        ...

    def __call__(self, table: PlanTable, path_vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums of the table's plans and of the plans without hops, one a question, given mapped paths."""
        ...


class PlanScorers(Protocol):
    """The learned scorers that there are."""

    def get(self, artifact: str) -> PlanScorer:
        """Return the scorer of an artifact. Raises StageError when there is none that this code can read."""
        ...


# --------------------------------------------------------------------------------------------------------------- stages


class PlanStage(Protocol):
    """Question → plans, best first."""

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan."""
        ...


class LinkStage(Protocol):
    """Plans → plans whose anchors are bound."""

    def __call__(self, plans: Sequence[ScoredPlan], limit: Limit, reach: Reach = ...) -> list[LinkedPlan]:
        """Return one linked plan a plan, in their order; an anchor without a binding leaves its plan unbound."""
        ...


class TraverseStage(Protocol):
    """Linked plans → what the graph answers to each."""

    def __call__(self, plans: Sequence[LinkedPlan], limit: Limit) -> list[Traversal]:
        """Return one traversal for each plan that has anchors, in their order."""
        ...


class RecoverStage(Protocol):
    """Plans that found nothing → the same plans, one of them changed until it finds something."""

    def __call__(
        self,
        plans: list[LinkedPlan],
        found: list[Traversal],
        link: LinkStage,
        traverse: TraverseStage,
        trace: Trace,
        limit: Limit,
    ) -> tuple[list[LinkedPlan], list[Traversal]]:
        """Return plans and traversals as they are, or with one of each replaced; each attempt is a step of the trace.

        Raises DeadlineExceeded when the time for attempts ran out.
        """
        ...


class RescoreStage(Protocol):
    """Traversals → one list of the graph."""

    def __call__(
        self, question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
    ) -> GraphRanking:
        """Merge what the plans found and add the cosine of the residual text where there is one."""
        ...


class RetrieveStage(Protocol):
    """Question → the list of text retrieval, or several lists fused."""

    def __call__(self, question: Question, limit: Limit) -> Ranking | Fusion:
        """Return the best documents, 100 deep or deeper."""
        ...


class FuseStage(Protocol):
    """The graph's list and the text's list → one list."""

    def __call__(self, question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
        """Fuse by weighted reciprocal ranks; equal sums are ordered by the question's cosine, then by key."""
        ...


class MergeStage(Protocol):
    """Several lists of text retrieval → one list."""

    def __call__(self, question: Question, rankings: Mapping[str, Ranking | Fusion], limit: Limit) -> Fusion:
        """Fuse the lists with equal weights; equal sums are ordered by the question's cosine, then by key."""
        ...


class CheckStage(Protocol):
    """The fused list → which conditions of its plan each of the first candidates meets."""

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], graph: GraphRanking, limit: Limit
    ) -> CheckedConditions:
        """Hold the first hundred candidates, or the first `question.k` where these are more, against their plans."""
        ...


class RerankStage(Protocol):
    """The fused list → the same list in a better order."""

    def __call__(self, question: Question, fusion: Fusion, limit: Limit) -> Fusion:
        """Return the fused list with the reranker's list laid over it; scores of earlier stages are kept."""
        ...


class ExplainStage(Protocol):
    """The final list → explained results."""

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions, limit: Limit
    ) -> list[Result]:
        """Return the first `question.k` results with snippet, arithmetic and evidence."""
        ...
