"""What became of one asked question, as a line of a file that later runs are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from search.management.shown_search import plan_line
from training.data.examples import Example
from training.evaluation.lost import Attribution
from training.evaluation.runner import QuestionOutcome

PLANS_KEPT = 4


@dataclass(frozen=True)
class AskedOutcome:
    """The outcome of a question.

    `measures` are in percent. `probability` is the one that the page shows, None where it shows none; `leads` says
    that the page calls it almost surely right. `plans` are the best plans in one line each, with probability and number
    of nodes found. `first` are the names of the first results, `wanted` those of the answers. `lost_at` and `why` say
    where the answers were lost, `possible` is the enumerated plan that finds them best; all are empty if the first
    result is right.
    """

    base: str
    id: str
    text: str
    kind: str
    split: str
    measures: Mapping[str, float]
    probability: float | None = None
    leads: bool = False
    plans: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    lost_at: str = ""
    why: str = ""
    possible: str = ""
    seconds: float = 0.0
    planning: float = 0.0
    error: str = ""

    @classmethod
    def of(
        cls, base: str, example: Example, outcome: QuestionOutcome, told: Mapping[str, Any],
        measures: Mapping[str, float], lost: Attribution | None,
    ) -> AskedOutcome:  # fmt: skip
        """Return the outcome of a search; `told` is what `describe` says of it, empty if it failed."""
        plans = told.get("plans", ())
        possible = lost.plan if lost is not None else None
        return cls(
            base, example.id, example.text, example.slices.get("kind", ""), example.split, dict(measures),
            outcome.probability, bool(outcome.leads),
            tuple(_plan(entry) for entry in plans[:PLANS_KEPT]),
            tuple(one["node"]["name"] for one in told.get("results", ())[:3]),
            tuple(fate.name for fate in lost.answers[:4]) if lost is not None else (),
            (lost.lost_at or "") if lost is not None else "",
            lost.not_first.why if lost is not None and lost.not_first is not None else "",
            f"F1 {possible.f1:.2f}: {plan_line(possible.plan.to_json())}" if possible is not None else "",
            round(outcome.seconds, 4), round(outcome.stages.get("plan", 0.0), 4), outcome.error,
        )  # fmt: skip

    @property
    def right(self) -> bool:
        """Whether the first result is an answer."""
        return self.measures["H@1"] > 0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AskedOutcome:
        """Return the outcome that `to_json` wrote. Raises KeyError, TypeError."""
        listed = {name: tuple(data[name]) for name in ("plans", "first", "wanted")}
        return cls(**{one.name: data[one.name] for one in fields(cls)} | listed)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return asdict(self)


def _plan(entry: Mapping[str, Any]) -> str:
    return f"{entry['probability']:.2f} [{entry['found']}] {plan_line(entry['plan'])}"
