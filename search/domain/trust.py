"""How far a ranked list is to be trusted when lists are fused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.domain.plan.parts import Risk


@dataclass(frozen=True, slots=True)
class Trust:
    """What fusion has to know of a list before it can weigh it; nothing here has a default.

    `n_cand` is how many candidates stand behind the top of the list: how selective the answer is. `risk_level` says how
    strongly the list is laid over the others, `probability` how probable it is that its order is right.
    """

    n_cand: int
    risk_level: Risk
    probability: float

    @classmethod
    def of_nothing(cls) -> Trust:
        """Return the trust of a list that found nothing."""
        return cls(0, "no_trade", 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the three values by name."""
        return {"n_cand": self.n_cand, "risk_level": self.risk_level, "probability": self.probability}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trust:
        """Read `to_json` back; KeyError where a value is missing."""
        return cls(data["n_cand"], data["risk_level"], data["probability"])
