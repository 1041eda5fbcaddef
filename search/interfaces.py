"""Protocols of the stages and of the tools. Stages and pipelines depend only on these protocols.

A node is identified by its key, an int: its position in the snapshot, in the bytewise order of ids. Vectors are
unit-length float32 arrays, so that a dot product is a cosine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from search.domain.conditions import CheckedConditions
from search.domain.conversation import Completion, Prompt
from search.domain.errors import StageError
from search.domain.evidence import Path, Result
from search.domain.fusion import Fusion
from search.domain.graph import Direction, FieldValue, Node, Schema
from search.domain.linking import GraphRanking, LinkedPlan, Reach, Traversal
from search.domain.plan import Order, ScoredPlan
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit, Trace
from search.domain.vector_kinds import WHOLE
from search.text import DocumentForm

Vectors = NDArray[np.float32]
Keys = NDArray[np.int32]
VectorKind = str
"""A kind listed in `search.domain.vector_kinds`; each vector set has some of them."""

# ---------------------------------------------------------------------------------------------------------------- tools


class Encoder(Protocol):
    """Turns texts into vectors.

    An encoder may have an attribute `characters_at_once`: the characters of one call, padding included, that use it
    well and can still be waited for. Many texts are embedded in calls of this size.
    """

    name: str
    """Model and revision: vectors of encoders with different names are never compared."""
    dimensions: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row per text, shape (len(texts), dimensions). Texts too long for the model are cut."""
        ...


class NodeStore(Protocol):
    """Returns nodes, or parts of them, by key or id."""

    def ids(self, keys: Sequence[int]) -> list[str]:
        """Return the ids of these keys, in the order of the keys."""
        ...

    def references(self, keys: Sequence[int]) -> list[Node]:
        """Return nodes with id, type and name, without fields, in the order of the keys; fast (memory-mapped files)."""
        ...

    def nodes(self, keys: Sequence[int], limit: Limit | None = None) -> list[Node]:
        """Return whole nodes, in the order of the keys. Raises StageError; DeadlineExceeded if the time ran out."""
        ...

    def keys(self, ids: Sequence[str]) -> list[int | None]:
        """Return the key of each id, or None if the snapshot has no node with this id."""
        ...

    def types(self, keys: Sequence[int] | Keys) -> NDArray[np.int16]:
        """Return the type code of each key."""
        ...

    def values(self, label: str, field: str, n: int = 1000) -> list[FieldValue]:
        """Return about n values of a field of a type's nodes, taken evenly from all nodes; always the same values."""
        ...

    def neighbour_names(self, key: int, limit: int = 10) -> dict[str, list[str]]:
        """Return relation → up to `limit` names of neighbours, both directions together, for a document."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class KindMatrix:
    """All vectors of a kind: the key of each row, (rows,), sorted, and the rows, (rows, dimensions), mapped files.

    A node may have no row, or several.
    """

    keys: Keys
    rows: NDArray[np.float16]


class VectorIndex(Protocol):
    """Nearest neighbours among the vectors of a release."""

    @property
    def kinds(self) -> frozenset[VectorKind]:
        """The kinds of vectors that there are, computed ones included; a release without vectors has none."""
        ...

    def matrix(self, kind: VectorKind) -> KindMatrix:
        """Return all vectors of a kind, for learners. Raises a permanent StageError if there is no such matrix."""
        ...

    def nearest(
        self, kind: VectorKind, vector: Vectors, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        """Return the k nodes of the given types (empty: all types) with the highest cosine, best first.

        If a node has several vectors of the kind, its best cosine counts. Raises a permanent StageError for a kind that
        the release's vector set does not have.
        """
        ...

    def cosines(self, vector: Vectors, keys: Sequence[int], kind: VectorKind = WHOLE) -> dict[int, float]:
        """Return key → cosine of its vector of a kind (the best of several); keys without such a vector are absent.

        Vectors of documents are read without a request to the database: thousands of keys take about a millisecond.
        Raises a permanent StageError for a kind that the release's vector set does not have.
        """
        ...

    def sample(self, label: str, n: int = 1000, limit: Limit | None = None) -> list[int]:
        """Return up to n keys of a type, always the same ones: the sample with which a cosine is compared.

        Raises StageError; DeadlineExceeded if the limit's time ran out.
        """
        ...

    def background(self, vector: Vectors, label: str, n: int = 1000, limit: Limit | None = None) -> Vectors:
        """Return the cosines of a vector and the documents of a type's `sample`, in no particular order.

        Raises StageError; DeadlineExceeded if the limit's time ran out.
        """
        ...


class TextIndex(Protocol):
    """BM25 over the documents of a release, whole or by field."""

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Candidate]:
        """Return up to k nodes of the given types (empty: all types) that match at least one word, best first.

        `field` is a field's name, or `relation:<name>`: the names of the neighbours over a relation. Raises a permanent
        StageError for a field that the index does not have.
        """
        ...

    def word_scores(
        self, text: str, keys: Keys, field: str | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the words of a text one by one: the rarity of each, and each node's BM25 score for it.

        The first array holds the idf of each distinct word that the index has, shape (words,); the second one the
        scores, shape (words, keys), 0 for a node without the word. The scores of a node add up to its score in `search`
        if no word is repeated. Raises a permanent StageError for a field that the index does not have.
        """
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that can be searched on their own: names of fields, and `relation:<name>`."""
        ...

    def matching(self, text: str, field: str | None = None) -> tuple[Keys, NDArray[np.float32]]:
        """Return the keys of all nodes that match at least one word, sorted, and their scores; like `search`."""
        ...

    def postings(self, text: str) -> list[tuple[Keys, NDArray[np.float32]]]:
        """Return for each distinct word of the text that the index has: the keys of its documents, and its scores."""
        ...


How = Literal[
    "name",
    "plural",
    "possessive",
    "joined",
    "abbreviation",
    "initials",
    "part",
    "spelling",
    "translated",
    "described",
    "near",
]
"""How a stretch of a question was found to be a name: as it is stored (`name`), as its singular or plural, without a
possessive ending, with other hyphens and spaces, by its first letters (`abbreviation`, `initials`), by a part of it,
with corrected spelling, in another language, by a word in the text of a node (`described`), by a near name vector
(`near`)."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of the question that names nodes.

    `start` and `end` are offsets into the question. `keys` are all nodes with that name or alias. `exact` says for each
    key whether the case is the same as in the stored name. `similarity` is below 1 if the stretch differs from the
    stored name by more than case and punctuation. `how` says by which way it was found. `meant` is the stored name as
    it is spelled, empty if `how` is `name`.
    """

    start: int
    end: int
    text: str
    keys: tuple[int, ...]
    exact: tuple[bool, ...] = ()
    similarity: float = 1.0
    how: How = "name"
    meant: str = ""


class MentionIndex(Protocol):
    """Finds names and aliases of nodes in a text."""

    def find(self, text: str) -> list[Mention]:
        """Return every stretch of whole words that is a name or alias, also overlapping ones, longest first."""
        ...

    def lookup(self, name: str) -> tuple[int, ...]:
        """Return the keys of the nodes whose normalised name or alias equals the normalised `name`."""
        ...


@dataclass(frozen=True, slots=True)
class ValueMention:
    """A stretch of the question that says a value of a field: `open access`, `chromosome 17`, `waterproof`.

    `start` and `end` are offsets into the question. `value` is the stored value of `field`, a field of `node_type`; for
    a field of yes and no it is the value that stands for yes. `similarity` in [0, 1] is 1 if the stretch is the value
    but for case and punctuation. `nodes` is the number of nodes of the type with the value. `named` says that the
    stretch includes words of the field's name, or consists of them.
    """

    start: int
    end: int
    text: str
    node_type: str
    field: str
    value: str | int | float
    similarity: float
    nodes: int
    named: bool = False


class ValueIndex(Protocol):
    """Finds values of fields in a text: keywords, categories, numbers beside the name of their field, yes and no."""

    def find(self, text: str) -> list[ValueMention]:
        """Return every stretch of whole words that is a value of a field, overlapping ones too, longest first.

        The same stretch may be a value of several fields. A release that was indexed without values has none.
        """
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

    def walk(self, keys: Keys, relation: int, direction: Direction, most: int) -> tuple[NDArray[np.int64], Keys] | None:
        """Return every edge of a relation from these keys: the position of its key among `keys`, and its far node.

        The edges are in the order of `keys`, which may hold a key several times; then by far node. Returns None, having
        read nothing, if there are more than `most` edges.
        """
        ...

    def joined(self, near: Keys, far: Keys, relation: int, direction: Direction) -> NDArray[np.bool_]:
        """Return for each pair of keys whether an edge of a relation leads from `near` to `far` in the direction."""
        ...

    def edges(self, keys: Keys, relation: int, direction: Direction) -> int:
        """Return the number of edges that `walk` would read."""
        ...

    def degree(self, key: int, relation: int, direction: Direction) -> int:
        """Return the number of edges of a relation that a node has in one direction."""
        ...

    def has_edges(self, keys: Keys) -> list[tuple[int, Direction]]:
        """Return the (relation, direction) pairs over which any of these nodes has an edge."""
        ...

    def counts(self, keys: Keys) -> dict[tuple[int, Direction], int]:
        """Return (relation, direction) → number of edges of a set of nodes, which `neighbours` would have to read."""
        ...

    @property
    def types(self) -> NDArray[np.int16]:
        """Type code of each key, shape (nodes,)."""
        ...

    @property
    def size(self) -> int:
        """Number of nodes."""
        ...

    def whole(self, direction: Direction) -> tuple[NDArray[np.int64], Keys]:
        """Return the whole graph in one direction as compressed rows, over all relations together.

        The first array, shape (nodes + 1,), holds the position in the second array, shape (edges,), at which the
        neighbours of each key begin. A neighbour that is reached over two relations is there twice. Both arrays are
        read-only and shared.
        """
        ...


class GraphStore(Protocol):
    """Executes linked plans. All engines use the same definition of a match: see docs/architecture.md."""

    backend: str

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return every node that T takes in a match, with the largest sum of its anchors' cosines.

        The candidates of a plan with an order are in it, see `Traversal`. At most the `rows` best candidates are
        returned; `truncated` says that there were more, or that the engine stopped early. Raises StageError if the
        engine fails, DeadlineExceeded if the limit's time ran out.
        """
        ...

    def paths(
        self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1
    ) -> dict[int, list[tuple[Path, ...]]]:
        """Return key → up to `most` best matches in which T takes it; a match is one path per anchor, in their order.

        An anchor that only a comparison connects with T has no path. Keys that no match reaches are absent. The order
        of the plan is not considered. A plan without anchors has no paths.
        """
        ...

    def matching(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return the keys that T takes in a match, without paths; many keys are checked in one statement.

        The plan may have no anchors: then only its hops, filters and exclusions are checked. The order of the plan is
        not considered. Raises StageError if the answer is not known for every key, DeadlineExceeded if the limit's time
        ran out.
        """
        ...

    def order_values(self, order: Order, keys: Sequence[int], limit: Limit) -> dict[int, int | float | str | None]:
        """Return for each key the value that an order compares, or None if the node does not have the field.

        Of a list it is the item that comes first in the order. A count is the number of different nodes. Raises
        StageError.
        """
        ...


class LanguageModel(Protocol):
    """Answers prompts."""

    def configured(self) -> bool:
        """Return whether a model is configured at this moment; one may be added while searches run."""
        ...

    def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
        """Return for each prompt, in order, its completion or the error that says why there is none.

        The prompts are sent in parallel as far as the server allows. Raises StageError if no prompt can be sent (no
        model configured, the limit's time ran out), SearchCancelled if the search was cancelled.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlanTable:
    """Candidate plans of some questions, in the form that a learned scorer reads.

    `features`: float32, shape (plans, features). `question`: int64, (plans,), the question of each plan, sorted.
    `asked`: vectors of questions with one mention masked, (mentions, dimensions); every question has at least one row.
    `owner`: int64, (mentions,), the question of each row of `asked`, sorted. `branches`: int64, (branches, 3): plan,
    row of `asked`, position of the branch's path among the paths.
    """

    features: NDArray[np.float32]
    question: NDArray[np.int64]
    asked: Vectors
    owner: NDArray[np.int64]
    branches: NDArray[np.int64]


class PlanScorer(Protocol):
    """Scores candidate plans. It was learned from questions and their answers."""

    name: str
    encoder: str
    """Name of the encoder whose vectors were used for learning; vectors of other encoders cannot be scored."""
    features: tuple[str, ...]
    types: frozenset[str]
    relations: frozenset[str]
    """The node types and relations that existed when it was learned (`types`, `relations`)."""

    def vector(self, path: str) -> Vectors | None:
        """Return the vector of a path by its key, shape (dimensions,), or None if the path was not seen in learning."""
        ...

    def map_paths(self, vectors: Vectors) -> Vectors:
        """Return the mapped vectors of paths or of their wordings, given as (paths, dimensions); for all questions."""
        ...

    def __call__(self, table: PlanTable, path_vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return, for mapped paths, the sums of the table's plans and of each question's plan without hops."""
        ...


class PlanScorers(Protocol):
    """The available learned scorers."""

    def get(self, artifact: str, fold: int = -1) -> PlanScorer:
        """Return the scorer of an artifact; if `fold` is 0 or more, the scorer learned without this fold of questions.

        Raises StageError if there is no scorer that this code can read.
        """
        ...


class Ranker(Protocol):
    """Scores candidates by their signals (`search.signals`). It was learned from questions and their answers."""

    name: str
    encoder: str
    """Name of the encoder whose vectors of questions were used for learning."""
    signals: tuple[str, ...]
    """Names of the signals that it reads, in the order of its columns."""

    def answer_types(self, text: str, vector: Vectors) -> Mapping[str, float]:
        """Return the probability of each node type as the type of the answers to a question with this vector."""
        ...

    def scores(self, signals: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the scores of candidates, shape (candidates,), given their signals, (candidates, signals)."""
        ...

    def contributions(self, signals: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return what each signal adds to the score of each candidate, shape (candidates, signals)."""
        ...


class Rankers(Protocol):
    """The available learned rankers."""

    def get(self, artifact: str, fold: int = -1) -> Ranker:
        """Return the ranker of an artifact; if `fold` is 0 or more, the ranker learned without this fold of questions.

        Raises StageError if there is no ranker that this code can read.
        """
        ...


class Scorer(Protocol):
    """Scores documents for a question by reading both together. `search.text.reranker_document` makes the documents.

    Scores are only compared with scores of the same question.
    """

    name: str
    """The model, for people."""
    at_once: int
    """Number of documents in one call that uses the scorer well and can still be waited for."""
    form: DocumentForm | None
    """The form of the documents that it has learned from; None if it takes any."""
    mix: tuple[float, float] | None
    """Weight of its list in the fusion with the list before it, and the constant k, as chosen on questions that it has
    not learned from; None if nothing was chosen."""

    def score(self, question: str, documents: Sequence[str], limit: Limit) -> NDArray[np.float64]:
        """Return one finite score for each document, in the order of the documents; a higher one is better.

        Raises DeadlineExceeded if the time ran out before all were scored, SearchCancelled, and StageError if the model
        fails.
        """
        ...


class Scorers(Protocol):
    """The rerankers of this site: configured ones by name, trained ones by artifact."""

    def get(self, scorer: str = "", artifact: str = "") -> Scorer:
        """Return the scorer of an artifact, or the configured one of a name; the artifact counts if both are given.

        Raises StageError if there is no such scorer, or if neither is given.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class FieldQuery:
    """What a retriever of fields looks for. The score of a node is the sum over lists of weight x score in the list.

    `vectors` maps each dense list to a unit-length vector, with which the vectors of the list's kind are compared.
    `weights` maps every list to its weight, 0 or more. `types` maps node types to the score that their nodes get.
    """

    vectors: Mapping[str, Vectors]
    weights: Mapping[str, float]
    types: Mapping[str, float]


class FieldRetriever(Protocol):
    """Reads questions for a retrieval of fields (`search.fields`). It was learned from questions and their answers."""

    name: str
    encoder: str
    """Name of the encoder of the vectors that its queries are compared with."""
    lists: tuple[str, ...]
    """The lists that it weighs, by name (`search.fields.names`)."""

    def read(self, text: str) -> FieldQuery:
        """Return what a question looks for."""
        ...


class FieldRetrievers(Protocol):
    """The available learned retrievers of fields."""

    def get(self, artifact: str, fold: int = -1) -> FieldRetriever:
        """Return the retriever of an artifact; if `fold` is 0 or more, the one learned without this fold of questions.

        Raises StageError if there is no retriever that this code can read.
        """
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
        """Return one linked plan per plan, in order; a plan with an anchor without bindings is not bound."""
        ...


class TraverseStage(Protocol):
    """Linked plans → the candidates that the graph finds for each."""

    def __call__(self, plans: Sequence[LinkedPlan], limit: Limit) -> list[Traversal]:
        """Return one traversal for each plan that has anchors or runs over a type, in the order of the plans."""
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
        """Return plans and traversals, unchanged or with one of each replaced; each attempt is a step of the trace.

        Raises DeadlineExceeded if the time for attempts ran out.
        """
        ...


class RescoreStage(Protocol):
    """Traversals → the graph's list."""

    def __call__(
        self, question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
    ) -> GraphRanking:
        """Return the merged candidates of the plans; if there is a residual text, its cosine is added to the scores."""
        ...


class RetrieveStage(Protocol):
    """Question → the list of text retrieval, or several lists fused."""

    def __call__(self, question: Question, limit: Limit) -> Ranking | Fusion:
        """Return the best documents, best first, at a depth of 100 or more."""
        ...


class FuseStage(Protocol):
    """The graph's list and the text's list → one list."""

    def __call__(self, question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
        """Return the fusion by weighted reciprocal ranks; equal sums are ordered by the question's cosine, then key."""
        ...


class MergeStage(Protocol):
    """Several lists of text retrieval → one list."""

    def __call__(self, question: Question, rankings: Mapping[str, Ranking | Fusion], limit: Limit) -> Fusion:
        """Return the fusion with equal weights; equal sums are ordered by the question's cosine, then by key."""
        ...


class CheckStage(Protocol):
    """The fused list → which conditions of its plan each of the first candidates meets."""

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], graph: GraphRanking, limit: Limit
    ) -> CheckedConditions:
        """Return the conditions of the first candidates, as checked against their plans.

        It checks 100 candidates, or `question.k` if that is more.
        """
        ...


class RerankStage(Protocol):
    """The fused list → the same list in a better order."""

    def __call__(
        self,
        question: Question,
        fusion: Fusion,
        plans: Sequence[LinkedPlan],
        checked: CheckedConditions,
        limit: Limit,
    ) -> Fusion:
        """Return the fused list, reordered by the reranker's list; scores of earlier stages are kept.

        `plans` and `checked` tell how each candidate was found, and which conditions it meets.
        """
        ...


class ExplainStage(Protocol):
    """The final list → explained results."""

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions, limit: Limit
    ) -> list[Result]:
        """Return the first `question.k` results, each with snippet, shares of the lists and evidence."""
        ...
