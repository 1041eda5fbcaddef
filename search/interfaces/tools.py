"""Protocols of the tools that hold the graph, and of the models that any stage may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search.domain.conversation import Completion, ModelIdentity, Prompt
from search.domain.errors import StageError
from search.domain.evidence import Path
from search.domain.graph import Direction, FieldValue, Node, Schema
from search.domain.linking import LinkedPlan, Traversal
from search.domain.plan import EdgeField, Filter, Order
from search.domain.trace import Limit
from search.interfaces.arrays import Keys, Vectors


class Encoder(Protocol):
    """Turns texts into vectors.

    An encoder may have an attribute `characters_at_once`: the characters of one call, padding included, that use it
    well and can still be waited for. Many texts are embedded in calls of this size. An attribute `characters_read` says
    about how many characters of a text it reads, 0 if that is not known. With a method `remember(texts, vectors)` it
    takes vectors that it has computed before, in another process.
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


class IdentifiedModel(LanguageModel, Protocol):
    """A language model that says which one it is, for records of what it did."""

    def identity(self) -> ModelIdentity:
        """Return which model is configured at this moment. Raises StageError if there is none."""
        ...


class StreamingModel(LanguageModel, Protocol):
    """A language model that tells an answer while it is being written."""

    def stream(self, prompt: Prompt, limit: Limit, heard: Callable[[str], None]) -> Completion | StageError:
        """Return the completion of a prompt, or the error that says why there is none, as `complete` does.

        Meanwhile `heard` is called, from another thread, with all of the text that has arrived. A retry begins the text
        anew, and an answer that was stored earlier is not told.
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

    def part(self, key: int, relation: int, direction: Direction, first: int, most: int) -> Keys:
        """Return up to `most` neighbours of one node over one relation, sorted, from position `first` on.

        No other edge is read, so that a page of a hub costs no more than a page of any other node.
        """
        ...

    def first_of(self, first: int, last: int, most: int) -> tuple[Keys, NDArray[np.int64], Keys]:
        """Return the first `most` neighbours, over each relation in both directions, of each node in [first, last).

        Three arrays: the node, the relation and the neighbour, sorted, each row once. No other edge is read.
        """
        ...

    def walk(
        self, keys: Keys, relation: int | None, direction: Direction, most: int
    ) -> tuple[NDArray[np.int64], Keys] | None:
        """Return every edge of a relation (None for any) from these keys: the position of its key, and its far node.

        The edges are in the order of `keys`, which may hold a key several times; then by relation and far node. Returns
        None, having read nothing, if there are more than `most` edges.
        """
        ...

    def joined(self, near: Keys, far: Keys, relation: int, direction: Direction) -> NDArray[np.bool_]:
        """Return for each pair of keys whether an edge of a relation leads from `near` to `far` in the direction."""
        ...

    def edges(self, keys: Keys, relation: int | None, direction: Direction) -> int:
        """Return the number of edges that `walk` would read."""
        ...

    def degree(self, key: int, relation: int, direction: Direction) -> int:
        """Return the number of edges of a relation that a node has in one direction."""
        ...

    def degrees(self, keys: Keys, relation: int, direction: Direction) -> NDArray[np.int64]:
        """Return `degree` of each of these keys, shape (keys,)."""
        ...

    def has_edges(self, keys: Keys) -> list[tuple[int, Direction]]:
        """Return the (relation, direction) pairs over which any of these nodes has an edge."""
        ...

    def counts(self, keys: Keys) -> dict[tuple[int, Direction], int]:
        """Return (relation, direction) → number of edges of a set of nodes, which `neighbours` would have to read."""
        ...

    def counts_of(self, sets: Sequence[Keys]) -> list[dict[tuple[int, Direction], int]]:
        """Return `counts` of each of several sets of nodes; faster than one by one."""
        ...

    def values_of(self, relation: int, field: str) -> EdgeValues | None:
        """Return the values that a field of a relation's edges has; None if only the database has them."""
        ...

    @property
    def types(self) -> NDArray[np.int16]:
        """Type code of each key, shape (nodes,)."""
        ...

    def of_types(self, codes: Sequence[int]) -> Keys:
        """Return the sorted keys of all nodes of these types; the array may be shared and must not be changed."""
        ...

    def is_single(self, code: int, relation: int, direction: Direction) -> bool:
        """Return whether no node of a type has several neighbours over a relation in a direction."""
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


class EdgeValues(Protocol):
    """One field of the edges of a relation. Edges are given by both ends in stored direction, as arrays of keys."""

    def meeting(self, source: Keys, target: Keys, condition: Filter) -> NDArray[np.bool_]:
        """Return which edges meet a condition on the field."""
        ...

    def has(self, text: str) -> bool:
        """Return whether any edge has this text, without regard to case."""
        ...

    def of(self, source: Keys, target: Keys) -> tuple[NDArray[np.int64], list[int | float | str]]:
        """Return the values of edges, and for each the position of its edge among those given."""
        ...


class GraphStore(Protocol):
    """Executes linked plans. All engines use the same definition of a match: see docs/architecture.md."""

    backend: str

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return every node that T takes in a match, with the largest sum of its anchors' cosines.

        The candidates of a plan with an order are in it, see `Traversal`. At most the `rows` best candidates are
        returned; `truncated` says that there were more, or that the engine stopped early. The aggregate of a plan that
        asks for one is computed from all of them. Raises StageError if the engine fails, DeadlineExceeded if the
        limit's time ran out.
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

    def order_values(
        self, order: Order, keys: Sequence[int], limit: Limit, among: Collection[int] | None = None
    ) -> dict[int, int | float | str | None]:
        """Return for each key the value that an order compares, or None if the node does not have the field.

        Of a list it is the item that comes first in the order. A count is the number of different nodes, of those
        `among` where they are given. Raises StageError.
        """
        ...

    def edge_values(
        self, linked: LinkedPlan, of: EdgeField, keys: Sequence[int], limit: Limit
    ) -> dict[int, list[int | float | str]]:
        """Return for each key the values of a field of the edges that the plan's hop takes from it; [] if none has any.

        Raises StageError.
        """
        ...
