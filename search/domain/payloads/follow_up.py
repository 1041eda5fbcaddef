"""The recorded reading of a question that follows another search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FollowUpRead:
    """How a follow-up was read: the words as asked, the wording that text retrieval read.

    `anew`, in [0, 1], is the probability that the words are a question of their own. `plans` is the number of changed
    plans.
    """

    words: str
    wording: str
    anew: float
    plans: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FollowUpRead:
        """Return what `FollowUpReading.to_json` wrote."""
        return cls(data["words"], data["wording"], data["anew"], data["plans"])

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return {"words": self.words, "wording": self.wording, "anew": self.anew, "plans": self.plans}
