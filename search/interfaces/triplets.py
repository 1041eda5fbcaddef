"""What the stages of AF-Retriever and FocusedRetriever hand to each other, and their protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from search.domain.errors import StageError
from search.domain.evidence import Result
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.linking import GraphRanking
from search.domain.plan import Plan
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, StepStatus
from search.domain.triplets import TripletQuery
from search.interfaces.arrays import Keys

SHOWN = 5
"""Candidates of a symbol that a trace records."""


class NoModel(StageError):
    """No language model is configured, or it gave no answer at all."""


@dataclass(frozen=True)
class ModelStep:
    """What a step with a language model records beside its output; `detail` is a sentence for people."""

    detail: str = ""
    status: StepStatus = "ok"
    tokens: Mapping[str, int] = field(default_factory=dict)
    prompt_fingerprint: str = ""


@dataclass(frozen=True)
class TargetTypes(ModelStep):
    """The node types that answers may have: one if it was predicted, else all that may be answers."""

    labels: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the types as a JSON object."""
        return {"labels": list(self.labels)}


@dataclass(frozen=True)
class WrittenTriplets(ModelStep):
    """The triplets of a question, the Cypher text that they were read from (if any), and its faults as sentences."""

    query: TripletQuery = field(default_factory=TripletQuery)
    cypher: str = ""
    faults: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the triplets as a JSON object."""
        return {"cypher": self.cypher, "faults": list(self.faults), **self.query.to_json()}


@dataclass(frozen=True)
class SymbolCandidates:
    """The nodes that symbols may take.

    `ranked` holds the candidates of each constant, best first; `allowed` the sorted keys of each variable with
    conditions on its fields. Other symbols may take every node of their types. `texts` is what each constant was looked
    up by; `shown` are the first candidates of each constant.
    """

    ranked: Mapping[str, tuple[int, ...]]
    allowed: Mapping[str, Keys] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[str, Sequence[Node]] = field(default_factory=dict)
    detail: str = ""
    status: StepStatus = "ok"

    def to_json(self) -> dict[str, Any]:
        """Return search texts, numbers of candidates, and the first candidates of each constant."""
        constants = [
            {"symbol": name, "text": self.texts.get(name, ""), "candidates": len(keys),
             "first": [node.to_json() for node in self.shown.get(name, ())]}
            for name, keys in self.ranked.items()
        ]  # fmt: skip
        filtered = [{"symbol": name, "candidates": len(keys)} for name, keys in self.allowed.items()]
        return {"constants": constants, "filtered": filtered}


@dataclass(frozen=True)
class Grounding:
    """The nodes of each symbol at the fixed point of the triplets.

    `sets` holds the sorted keys of the symbols that triplets connect with the target. `rounds` are pairs (l, number of
    answers): with the first l candidates of each constant. `found_in` maps each answer to the round (from 0) that found
    it first. `query` and `candidates` are those that were grounded. `wanted` is k, the number of answers of the search.
    """

    query: TripletQuery
    candidates: SymbolCandidates
    sets: Mapping[str, Keys] = field(default_factory=dict)
    rounds: tuple[tuple[int, int], ...] = ()
    found_in: Mapping[int, int] = field(default_factory=dict)
    wanted: int = 20
    detail: str = ""
    status: StepStatus = "ok"

    @property
    def answers(self) -> list[int]:
        """The keys that the target may take, sorted."""
        return sorted(self.found_in)

    @property
    def entities(self) -> frozenset[int]:
        """The keys of all other symbols than the target; what a shortened description still mentions."""
        return frozenset(
            int(key) for name, keys in self.sets.items() if name != self.query.target for key in keys.tolist()
        )

    def to_json(self) -> dict[str, Any]:
        """Return the rounds and the number of nodes of each symbol."""
        return {
            "rounds": [{"l": size, "answers": answers} for size, answers in self.rounds],
            "symbols": {name: len(keys) for name, keys in self.sets.items()},
        }


@dataclass(frozen=True)
class Grounded(GraphRanking):
    """The list of the grounded answers, with a sentence for people."""

    detail: str = ""
    status: StepStatus = "ok"


@dataclass(frozen=True)
class Filled(Ranking):
    """The documents that follow the grounded answers, with a sentence for people."""

    detail: str = ""
    status: StepStatus = "ok"


class TargetStage(Protocol):
    """Question → the type of its answers."""

    def __call__(self, question: Question, limit: Limit) -> TargetTypes:
        """Return the predicted type, or all types that may be answers; `detail` says why it is not predicted."""
        ...


class TripletStage(Protocol):
    """Question → triplets, by a language model or from a plan."""

    def __call__(self, question: Question, labels: Sequence[str], limit: Limit) -> WrittenTriplets:
        """Return the triplets that a model writes; `labels` are the predicted types. Raises NoModel."""
        ...

    def of_plan(self, plan: Plan) -> WrittenTriplets:
        """Return the triplets of a plan."""
        ...


class CandidateStage(Protocol):
    """Triplets → the nodes that their symbols may take."""

    def __call__(self, query: TripletQuery, limit: Limit) -> SymbolCandidates:
        """Return the candidates of constants and of variables with conditions."""
        ...


class GroundStage(Protocol):
    """Triplets and candidates → the nodes of each symbol at the fixed point."""

    def __call__(
        self, question: Question, query: TripletQuery, candidates: SymbolCandidates, labels: Sequence[str], limit: Limit
    ) -> Grounding:
        """Return the grounding. `labels` are the types of the target where the query does not say one."""
        ...


class RankStage(Protocol):
    """Grounding → the list of the graph."""

    def __call__(self, question: Question, grounding: Grounding, limit: Limit) -> Grounded:
        """Return the best grounded answers, as many as the method keeps."""
        ...


class FillStage(Protocol):
    """Question → documents of the predicted types that the graph did not find."""

    def __call__(
        self, question: Question, labels: Sequence[str], grounding: Grounding, kept: Ranking, limit: Limit
    ) -> Filled:
        """Return the list that follows the kept answers."""
        ...


class JoinStage(Protocol):
    """Two lists → the second after the first."""

    def __call__(self, question: Question, first: Ranking, second: Ranking, limit: Limit) -> Fusion:
        """Return both lists as one."""
        ...


class JudgeStage(Protocol):
    """The joined list → its first candidates in the order of a language model."""

    def __call__(self, question: Question, fusion: Fusion, grounding: Grounding, limit: Limit) -> Fusion:
        """Return the list in a new order, or unchanged with a sentence that says why."""
        ...


class ExplainGroundedStage(Protocol):
    """The final list → results, explained by grounded triplets."""

    def __call__(self, question: Question, fusion: Fusion, grounding: Grounding, limit: Limit) -> list[Result]:
        """Return the first `question.k` results, each with its snippet, arithmetic and paths."""
        ...
