"""A question that follows another search: what it knows of that search, and how its words were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.domain.payloads.plans import plan_from_json
from search.domain.plan import Plan, ScoredPlan

MAX_THREAD = 50
"""Largest number of questions in a thread of follow-ups, the first one and the newest included."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier question of a thread: the id of its search, and its text as it was asked."""

    id: str
    question: str

    def to_json(self) -> dict[str, str]:
        """Return id and question."""
        return {"id": self.id, "question": self.question}


@dataclass(frozen=True, slots=True)
class Followed:
    """What a follow-up knows of the search that it follows. A run keeps a copy, so it outlives the earlier search.

    `thread` holds the questions so far, the first one first; the last one is the search that is followed. `wording` is
    that search's question in words that can be understood without the thread. `plan` is the plan that was shown, None
    if its pipeline has no plan. `release` is the name of the release that it was asked of.
    """

    thread: tuple[Earlier, ...]
    wording: str
    plan: Plan | None = None
    release: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; `from_json` reads it back equal."""
        return {
            "thread": [earlier.to_json() for earlier in self.thread],
            "wording": self.wording,
            "plan": self.plan.to_json() if self.plan else None,
            "release": self.release,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Followed:
        """Return what `to_json` wrote. The plan is not checked again: the release may have another schema by now."""
        return cls(
            tuple(Earlier(one["id"], one["question"]) for one in data["thread"]),
            data["wording"],
            plan_from_json(data["plan"]) if data["plan"] else None,
            data["release"],
        )


@dataclass(frozen=True)
class FollowUpReading:
    """How the words of a follow-up were read.

    `plans` are changed plans of the earlier search, best first; their probabilities sum to 1 if there are any. `anew`,
    in [0, 1], is the probability that the words are a question of their own, which has nothing to do with the earlier
    search. `words` are the words as they were asked, `wording` is the question that text retrieval reads. `detail` is a
    note for people.
    """

    words: str
    wording: str
    plans: tuple[ScoredPlan, ...] = ()
    anew: float = 1.0
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the reading as it is recorded. The plans are listed by the step that plans."""
        return {"words": self.words, "wording": self.wording, "anew": self.anew, "plans": len(self.plans)}
