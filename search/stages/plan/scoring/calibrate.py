"""From what the planner knows of its first plan to the probability that the first answer is right (docs/planning.md).

The softmax over the plans compares plans with each other: it knows nothing of words that no plan explains, of names
that are only similar, and of cues that became no condition. A logistic function of these facts, fitted to questions
with known answers, turns the share of the softmax into a probability (Platt 1999, with several inputs). Each of its
weights has a sign that is given: the probability never rises when fewer words are explained.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from search.domain.logistic import Logistic, log_odds
from search.domain.plan import ScoredPlan

_FILE = Path(__file__).with_name("calibration.json")
_UNKNOWN = 0.45
"""Largest probability of a plan that leaves out a name which nothing here bears: it answers another question."""
_UNBOUND = 0.6
"""Largest probability of a plan in which a cue means nothing: a condition that was said may be missing."""
_LEFT_OVER = 0.85
"""Largest probability of a plan that leaves words over: only texts can say which of what it finds is meant."""

_UNUSED = 0.85
"""Largest probability of a plan that does nothing with a condition word such as *only* or *average*."""
_UNSAID = 0.7
"""Largest probability of a plan with a hop that no word says, neither by its relation nor by the type behind it, or
that starts from one of several things with the same name."""

INPUTS = ("odds", "margin", "explained", "nothing left", "sureness", "all bound", "fit", "few hops", "graph")
"""The names of the inputs of the logistic function."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """The facts that the probability of a question's first plan stands on.

    `share` is the plan's share of the softmax, `rival` that of the best other plan. `explained` is the share of the
    question's content words that it explains, and `left` the number of those that it does not. `sureness` is that of
    its least sure name, 1 without names. `unbound` is the number of cues (turning words, superlatives, comparisons)
    that mean nothing in it. `fit` is the least score of its conditions, 1 without conditions. `hops` is the number of
    its hops. `text` says that it leaves the whole question to text. `unknown` is the number of words that must belong
    to names which nothing bears, or say a topic that no text has: such a plan leaves a condition out.
    `unsaid` says that a walk of several hops has one that no word says, or that the name of its start means
    things of several types.
    `unused` is the number of condition words (*all*, *only*, *average*, *second*) that no part of it uses.
    `meant` is the probability that its numbers mean the fields that they limit; the function does not know it, because
    the questions to which it is fitted say their fields.
    """

    share: float
    rival: float = 0.0
    explained: float = 1.0
    left: int = 0
    sureness: float = 1.0
    unbound: int = 0
    fit: float = 1.0
    hops: int = 0
    text: bool = False
    unknown: int = 0
    meant: float = 1.0
    unsaid: bool = False
    unused: int = 0

    def inputs(self) -> dict[str, float]:
        """Return the inputs of the logistic function by name; more of any of them never lowers the probability."""
        both = self.share + self.rival
        values = (
            log_odds(self.share), log_odds(self.share / both) if both else 0.0, self.explained,
            -float(min(self.left, 4)), self.sureness, -float(min(self.unbound, 2)), self.fit,
            -float(min(max(self.hops, 1), 4)), 0.0 if self.text else 1.0,
        )  # fmt: skip
        return dict(zip(INPUTS, values, strict=True))

    def to_json(self) -> dict[str, float]:
        """Return the facts by name, as plain numbers: some come from arrays."""
        kinds = {"left": int, "unknown": int, "unbound": int, "hops": int, "text": bool, "unsaid": bool, "unused": int}
        return {name: kinds.get(name, float)(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, float]) -> Grounds:
        """Return the facts that `to_json` wrote."""
        return cls(**{one.name: data[one.name] for one in fields(cls) if one.name in data})  # type: ignore[arg-type]


class Calibration(Logistic):
    """A logistic function of `Grounds`."""

    def __call__(self, grounds: Grounds) -> float:
        """Return the probability that the first answer is right."""
        return self.probability(grounds.inputs())

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """Return the function that a file or an artifact holds. Raises ValueError if it is none."""
        return cls.read(data, INPUTS)


@lru_cache(maxsize=1)
def untrained() -> Calibration | None:
    """Return the calibration of the planner without training, from the file beside this module; None without one."""
    if not _FILE.exists():
        return None
    return Calibration.from_json(json.loads(_FILE.read_text(encoding="utf-8")))


def calibrated(
    plans: Sequence[ScoredPlan], grounds: Grounds, calibration: Calibration | None = None
) -> list[ScoredPlan]:  # fmt: skip
    """Return the plans, best first as given, with the calibrated probability of the first one; `grounds` are its facts.

    Where it is less than before, all probabilities shrink alike, so that the mixture of the plans stays the same; what
    is missing to 1 is the probability that no plan is right. Where it is more, the other plans share what is left.
    A trained planner has no calibration here: it may have learned walks that no word says, so that only condition words
    that nothing uses limit its probability. The first plan gets its facts in any case.
    """
    if not plans:
        return []
    first = replace(plans[0], grounds=grounds.to_json())
    before = first.probability
    if before <= 0:
        return [first, *plans[1:]]
    if calibration is None:
        after = min(before, _UNUSED) if grounds.unused else before
    else:
        after = min(grounds.meant * calibration(grounds), _most(grounds))
    others = after / before if after <= before else (1 - after) / max(1 - before, 1e-9)
    rest = [replace(plan, probability=min(others * plan.probability, after)) for plan in plans[1:]]
    return [replace(first, probability=after), *rest]


def _most(grounds: Grounds) -> float:
    """Return the largest probability that the facts allow, whatever the function says: it has seen few such plans."""
    caps = (
        (grounds.unknown, _UNKNOWN),
        (grounds.unbound, _UNBOUND),
        (grounds.left, _LEFT_OVER),
        (grounds.unsaid, _UNSAID),
        (grounds.unused, _UNUSED),
    )
    return min((cap for there, cap in caps if there), default=1.0)
