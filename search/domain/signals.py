"""Signals of a result: what a learned ranker knew of it, and how far each of them moved it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.fusion import Fusion

SHOWN_SIGNALS = 5
"""Number of signals of a result that are recorded: those that moved it most."""


@dataclass(frozen=True, slots=True)
class SignalShare:
    """A signal of a result: its value (None where it does not apply), and what it adds to the ranker's score.

    Over all signals, the contributions and the expected score of a candidate of the training add up to the ranker's
    score.
    """

    name: str
    value: float | None
    contribution: float

    def to_json(self) -> dict[str, Any]:
        """Return the signal as a JSON object."""
        return {"name": self.name, "value": self.value, "contribution": self.contribution}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SignalShare:
        """Return the signal that `to_json` wrote."""
        return cls(data["name"], data["value"], data["contribution"])


@dataclass(frozen=True)
class Reranked(Fusion):
    """A list that a reranker put into another order, fused with the list that it was given.

    `signals` holds, for the first results, the signals that moved each of them most, the strongest first. If the
    reranker could not do its work, `detail` says why, and the order is the given one. `probability` is calibrated.
    """

    signals: Mapping[int, Sequence[SignalShare]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the fusion as JSON, with the probability of the first candidate where it is known."""
        written = super().to_json()
        return written if self.probability is None else written | {"probability": self.probability}


def signals_of(fusion: Fusion, key: int) -> tuple[SignalShare, ...]:
    """Return the recorded signals of a candidate, from this fusion or the first one inside it that has any."""
    own = fusion.signals.get(key, ()) if isinstance(fusion, Reranked) else ()
    if own:
        return tuple(own)
    inner = (signals_of(one, key) for one in fusion.rankings.values() if isinstance(one, Fusion))
    return next((found for found in inner if found), ())
