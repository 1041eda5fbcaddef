"""The honesty of a pipeline as a report shows it: a reliability diagram, and wrong answers that were called sure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]
SQUARE = 200
"""Side of the diagram in its own units."""
STRIP = 40
"""Height of the bars below the diagram, which show the numbers of questions, in the same units."""


@dataclass(frozen=True, slots=True)
class Bin:
    """A bin of a reliability diagram.

    `given` is the mean probability and `right` the share of right first answers, from `low` to `high` with 95%
    confidence; all from 0 to 1. `questions` is their number, and `share` that number against the fullest bin.
    """

    begin: float
    end: float
    questions: int
    given: float
    right: float
    low: float | None
    high: float | None
    share: float

    @property
    def point(self) -> tuple[float, float]:
        """The place of the bin's mean in the diagram, from its upper left corner."""
        return round(SQUARE * self.given, 1), round(SQUARE * (1 - self.right), 1)

    @property
    def whisker(self) -> tuple[float, float] | None:
        """Upper and lower end of the interval in the diagram; None for reports that have none."""
        if self.low is None or self.high is None:
            return None
        return round(SQUARE * (1 - self.high), 1), round(SQUARE * (1 - self.low), 1)

    @property
    def bar(self) -> tuple[float, float, float]:
        """Left end, width and height of the bar of the number of questions."""
        left = round(SQUARE * self.begin + 0.5, 1)
        return left, round(SQUARE * (self.end - self.begin) - 1, 1), round(max(1.0, STRIP * self.share), 1)


def bins_of(bins: Sequence[Json]) -> Iterator[Bin]:
    """Yield the bins of a calibration."""
    most = max((one["questions"] for one in bins), default=1)
    for one in bins:
        low, high = one.get("interval", (None, None))
        yield Bin(one["from"], one["to"], one["questions"], one["probability"], one["right"], low, high,
                  one["questions"] / most)  # fmt: skip


def sureness(told: Json | None) -> str:
    """Return a sentence about the first answers that were called almost surely right; empty if nothing says so."""
    if not told:
        return ""
    if not told["questions"]:
        return "No plan was called almost surely right."
    plans = "plan was" if told["questions"] == 1 else "plans were"
    low, high = told["interval"]
    return (
        f"{told['questions']:,} {plans} called almost surely right; the first answer of {told['wrong']:,} of them was "
        f"wrong: {told['per_100']:.1f} of 100 questions ({low:.1f} to {high:.1f} with 95 % confidence)."
    )
