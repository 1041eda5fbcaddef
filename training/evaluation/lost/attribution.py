"""Where the expected answers of one question were lost: the result of an attribution, as objects and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from search.domain.payloads.plans import plan_from_json
from search.domain.plan import Plan
from training.evaluation.lost.stages import LostStage

VERSION = 1
"""Version of the JSON."""
TOP = 20
"""Default length of the top of a ranking: an expected answer below it counts as lost (R@20)."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Loss:
    """The first stage that lost an answer, and a sentence that says how."""

    stage: LostStage
    why: str

    def to_json(self) -> dict[str, str]:
        """Return stage and sentence."""
        return {"stage": self.stage.value, "why": self.why}

    @classmethod
    def from_json(cls, data: Json) -> Loss:
        """Return the loss that `to_json` wrote."""
        return cls(LostStage(data["stage"]), data["why"])


@dataclass(frozen=True)
class AnswerFate:
    """One expected answer: its rank in the answer of the search, and in every list on the way.

    `rank` is its rank from 1 (None: not listed). `loss` is None if it stands in the top. `ranks` holds its rank in each
    list by the list's name, None if the list does not contain it. `plans` are the indexes of the executed plans that
    lead to it.
    """

    id: str
    name: str
    type: str
    rank: int | None
    loss: Loss | None
    ranks: Mapping[str, int | None] = field(default_factory=dict)
    plans: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fate as a JSON object."""
        return {
            "id": self.id, "name": self.name, "type": self.type, "rank": self.rank,
            "loss": self.loss.to_json() if self.loss else None, "ranks": dict(self.ranks), "plans": list(self.plans),
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Json) -> AnswerFate:
        """Return the fate that `to_json` wrote."""
        loss = Loss.from_json(data["loss"]) if data["loss"] else None
        return cls(data["id"], data["name"], data["type"], data["rank"], loss, data["ranks"], tuple(data["plans"]))


@dataclass(frozen=True)
class PossiblePlan:
    """The plan of a question that finds the expected answers best.

    `f1` compares all `found` nodes that it finds with the expected answers. `probability` is the probability that the
    planner gives it, and `rank` its rank among all meanings that were tried; both are None if the planner did
    not score it. `executed` is its index among the plans of the search, None if the search did not execute it.
    """

    plan: Plan
    f1: float
    found: int
    answers: int
    probability: float | None = None
    rank: int | None = None
    executed: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the plan with its figures as a JSON object."""
        return {
            "plan": self.plan.to_json(), "f1": self.f1, "found": self.found, "answers": self.answers,
            "probability": self.probability, "rank": self.rank, "executed": self.executed,
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Json) -> PossiblePlan:
        """Return the plan that `to_json` wrote."""
        return cls(**{**data, "plan": plan_from_json(data["plan"])})


@dataclass(frozen=True, slots=True)
class FoundNode:
    """One of the first results of the search, to be shown beside the expected answers."""

    rank: int
    id: str
    name: str
    type: str
    expected: bool

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            "rank": self.rank, "id": self.id, "name": self.name, "type": self.type, "expected": self.expected,
        }  # fmt: skip


@dataclass(frozen=True)
class ListCoverage:
    """How many expected answers a list contains: in its top, in its first 100 entries (`held`), and its entries.

    `role` is the role of the step that made the list.
    """

    name: str
    role: str
    top: int
    held: int
    entries: int

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as a JSON object."""
        return {"name": self.name, "role": self.role, "top": self.top, "held": self.held, "entries": self.entries}


@dataclass(frozen=True)
class Attribution:
    """Where the expected answers of one question were lost.

    `not_first` says why no expected answer stands first: the loss of the expected answer that came closest; None if one
    stands first. `lost` counts the expected answers that are not in the top `k`, by the stage that lost them; an answer
    is not lost if only other expected answers keep it out of the top. `expected` is the number of expected answers.
    `answers` holds the fate of the first `MOST_ANSWERS` of them, the lost ones first. `plan` is the plan that would
    have found the answers best; if there is none, `no_plan` says why.
    """

    k: int
    expected: int
    not_first: Loss | None
    lost: Mapping[LostStage, int] = field(default_factory=dict)
    answers: tuple[AnswerFate, ...] = ()
    found: tuple[FoundNode, ...] = ()
    lists: tuple[ListCoverage, ...] = ()
    plan: PossiblePlan | None = None
    no_plan: str = ""

    @property
    def lost_at(self) -> str | None:
        """The name of the stage that kept every expected answer from the first place; None if one stands there."""
        return self.not_first.stage.value if self.not_first else None

    def to_json(self) -> dict[str, Any]:
        """Return the attribution as a JSON object."""
        return {
            "version": VERSION,
            "k": self.k,
            "expected": self.expected,
            "lost_at": self.lost_at,
            "not_first": self.not_first.to_json() if self.not_first else None,
            "lost": {stage.value: number for stage, number in self.lost.items()},
            "answers": [answer.to_json() for answer in self.answers],
            "found": [node.to_json() for node in self.found],
            "lists": [one.to_json() for one in self.lists],
            "plan": self.plan.to_json() if self.plan else None,
            "no_plan": self.no_plan,
        }

    @classmethod
    def from_json(cls, data: Json) -> Attribution:
        """Return the attribution that `to_json` wrote. Raises ValueError for a version that this code does not know."""
        if data.get("version") != VERSION:
            raise ValueError(f"The attribution has version {data.get('version')}; this code reads version {VERSION}.")
        return cls(
            data["k"],
            data["expected"],
            Loss.from_json(data["not_first"]) if data["not_first"] else None,
            {LostStage(name): number for name, number in data["lost"].items()},
            tuple(map(AnswerFate.from_json, data["answers"])),
            tuple(FoundNode(**node) for node in data["found"]),
            tuple(ListCoverage(**one) for one in data["lists"]),
            PossiblePlan.from_json(data["plan"]) if data["plan"] else None,
            data["no_plan"],
        )
