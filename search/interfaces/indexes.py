"""Protocols of the indexes of a release: vectors, text, and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from search.domain.plan import Filter, Operator
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.domain.vector_kinds import WHOLE
from search.interfaces.arrays import Keys, VectorKind, Vectors


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

    def best_cosines(self, kind: VectorKind, vectors: Vectors) -> tuple[Keys, NDArray[np.float32]]:
        """Return the sorted keys of all nodes with a vector of a kind, and each node's best cosine with each vector.

        `vectors` has the shape (vectors, dimensions) and unit lengths, the second array (vectors, keys). The cosines
        are accurate to about 1/1000. Raises a permanent StageError if there is no matrix of the kind.
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


@dataclass(frozen=True, slots=True, eq=False)
class SimilarEdges:
    """The nodes that a node is similar to, the most similar first: their keys, the strength of each edge in (0, 1],
    and the index of the signal that it owes most to.
    """

    keys: Keys
    strengths: NDArray[np.float32]
    signals: NDArray[np.int8]


class SimilarIndex(Protocol):
    """The similarity edges of a release (`search.domain.similarity`), beside the graph's own edges."""

    @property
    def built(self) -> bool:
        """Whether the release has similarity edges."""
        ...

    @property
    def about(self) -> Mapping[str, Any]:
        """How they were made: percentile, thresholds, counts; empty without edges."""
        ...

    def neighbours(self, key: int) -> SimilarEdges:
        """Return the bounded number of nodes that a node is similar to; none if it takes no part."""
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

    def rarities(self, text: str) -> dict[str, float | None]:
        """Return the idf of each distinct word of a text, by its stem; None for a word that no document has."""
        ...

    def rarity(self, text: str) -> float:
        """Return the sum of the idf of a text's distinct words; a word that no document has counts as idf of 0 of them.

        No document's BM25 score in `search` is higher if no word is repeated.
        """
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that can be searched on their own: names of fields, and `relation:<name>`."""
        ...

    def matching(self, text: str, field: str | None = None) -> tuple[Keys, NDArray[np.float32]]:
        """Return the keys of all nodes that match at least one word, sorted, and their scores; like `search`."""
        ...

    def postings(self, text: str, field: str | None = None) -> list[tuple[Keys, NDArray[np.float32]]]:
        """Return for each distinct word of the text that the index has: the keys of its documents, and its scores.

        `field` is as for `search`; it takes time for these keys only.
        """
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
    "synonym",
    "described",
    "near",
]
"""How a stretch of a question was found to be a name: as it is stored (`name`), as its singular or plural, without a
possessive ending, with other hyphens and spaces, by its first letters (`abbreviation`, `initials`), by a part of it,
with corrected spelling, in another language, by an everyday word for it (`synonym`), by a word in the text of a node
(`described`), by a near name vector (`near`)."""


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

    def misspelt(self, name: str) -> list[Mention]:
        """Return the names one typing error away from a name, for a suggestion beside what it means itself."""
        ...

    def translated(self, text: str, start: int, end: int) -> list[Mention]:
        """Return names whose words have nearly the letters of those in a stretch of the text, the nearest first.

        They may be the same words in another language; `how` is `translated`.
        """
        ...

    def ending(self, text: str, start: int, end: int) -> list[Mention]:
        """Return one mention of the few names of several words that end with a word of the text; `how` is `part`."""
        ...


@dataclass(frozen=True, slots=True)
class ValueMention:
    """A stretch of the question that says a value of a field: `open access`, `chromosome 17`, `waterproof`.

    `start` and `end` are offsets into the question. `value` is the stored value of `field`, a field of `node_type`; for
    a field of yes and no it is the value that stands for yes. `similarity` in [0, 1] is 1 if the stretch is the value
    but for case and punctuation. `nodes` is the number of nodes of the type with the value. `named` says that the
    stretch includes words of the field's name, or consists of them. `op` is the operator of a filter that finds the
    nodes: `=`, or `contains` where `value` is a part of a longer value (*Sweden* of *Umeå, Sweden*).
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
    op: Operator = "="


class ValueIndex(Protocol):
    """Finds values of fields in a text: keywords, categories, numbers beside the name of their field, yes and no."""

    def find(self, text: str) -> list[ValueMention]:
        """Return every stretch of whole words that is a value of a field, overlapping ones too, longest first.

        The same stretch may be a value of several fields. A release that was indexed without values has none.
        """
        ...


class Columns(Protocol):
    """The fields of nodes as columns: what conditions and orders of a question are tried on."""

    def having(self, label: str, field: str) -> Keys:
        """Return the sorted keys of the nodes of a type that have a field."""
        ...

    def numbers(self, label: str, field: str) -> tuple[Keys, NDArray[np.float64]]:
        """Return the keys and numbers of a field, sorted by key; a node with several has several rows.

        A date is the number of its year, month and day one after the other: 20150301.
        """
        ...

    def equal(self, label: str, field: str, value: object, *, part: bool = False) -> Keys:
        """Return the sorted keys of the nodes with a value; with `part` also those with it in a list of places."""
        ...

    def whole(self, label: str, field: str) -> bool:
        """Return whether all values of a field are held, so that what these methods return is exact."""
        ...

    def meeting(self, label: str, keys: Keys, condition: Filter) -> NDArray[np.bool_]:
        """Return which of these nodes of a type meet a condition on a whole field."""
        ...

    def values(self, label: str, field: str, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.complex128]]:
        """Return the values of a whole field of these nodes of a type, and for each the position of its node.

        Values are encoded so that complex numbers sort as the values do.
        """
        ...

    def firsts(self, label: str, field: str, keys: Keys, *, last: bool) -> NDArray[np.complex128]:
        """Return of each node the value of a whole field that comes first, or last, in ascending order.

        It is encoded as in `values`, and not a number for a node without the field.
        """
        ...

    def read(self, values: NDArray[np.complex128]) -> list[int | float | str]:
        """Return the values that `values` or `firsts` encoded."""
        ...
