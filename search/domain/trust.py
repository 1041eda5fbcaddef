"""The trust in a ranked list, which fusion uses to choose the list's weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.domain.plan.parts import Risk


@dataclass(frozen=True, slots=True)
class Trust:
    """The facts about a list that fusion needs to choose the list's weight.

    `n_cand` is the number of candidates that the plan at the top of the list found: few mean a selective answer.
    `risk_level` says how strongly the list is laid over the others. `probability` is the probability that the order of
    the list is right. `exact` says that the plan leaves no word of the question over: neither a word of content nor a
    turning word. `against` is the probability that the first candidate of the other list is right, where that list has
    learned to tell it; it takes that part of this list's weight.
    """

    n_cand: int
    risk_level: Risk
    probability: float
    exact: bool = True
    against: float = 0.0

    @classmethod
    def of_nothing(cls) -> Trust:
        """Return the trust of a list that found nothing."""
        return cls(0, "no_trade", 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the values by name; `against` only where there is any."""
        told = {
            "n_cand": self.n_cand, "risk_level": self.risk_level, "probability": self.probability, "exact": self.exact,
        }  # fmt: skip
        return {**told, "against": self.against} if self.against else told

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trust:
        """Return the trust that `to_json` wrote. Raises KeyError if a value is missing."""
        optional = data.get("exact", True), data.get("against", 0.0)
        return cls(data["n_cand"], data["risk_level"], data["probability"], *optional)
