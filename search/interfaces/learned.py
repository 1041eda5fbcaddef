"""Protocols of what is learned from questions and answers. Each is read from an artifact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search.domain.logistic import Logistic
from search.domain.trace import Limit
from search.interfaces.arrays import Vectors
from search.text import DocumentForm


class PlanScorer(Protocol):
    """What a trained planner adds to the scores of meanings. It was learned from questions and their answers."""

    @property
    def weights(self) -> Mapping[str, Mapping[str, float]]:
        """Element of a meaning → word of the question → what it adds (`search.stages.plan.sparse`)."""
        ...

    @property
    def temperature(self) -> float:
        """What the scores are divided by before they become probabilities; above 0."""
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
    calibration: Logistic | None
    """Makes the probability that its first candidate is an answer of `search.signals.first_result.first_inputs`; None
    if it has not learned to tell it."""

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
