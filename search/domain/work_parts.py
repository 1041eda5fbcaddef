"""A part of long work: what is foreseen of it, what has been observed, and what later jobs learn from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import stdev
from typing import Any

from search.domain.foresight import CONSTANT, Foreseen, foresee

RATE = 0.12
"""Spread of the time that a part needs by its own rate, when all of the part has been observed."""
SCATTER = 1.5
"""How much of the scatter of a part's rates is taken to be chance."""
OVERDUE = 0.25
"""Work that has told nothing for a while is assumed to need this share of the time again."""
RECENT = 0.5
"""The rate of a part is measured over this newest share of its progress, because rates change with the data."""
LEAST = 1e-3
"""Seconds below which a part is taken to need no time."""
MARKS = 64
"""Most observations that are kept of a part to measure its newest rate."""


@dataclass(frozen=True, slots=True)
class Former:
    """A part of a former job: its size, the seconds before its first unit, and those of its units."""

    size: float
    lead: float
    units: float


History = Mapping[str, Sequence[Former]]
"""Part → what former jobs of the same kind took for theirs, on this machine."""


@dataclass(slots=True)
class WorkPart:
    """One part: its size, what is foreseen, what is done of what total, and the seconds that it has taken so far.

    `done` and `total` are counts in the part's own unit; `total` is None while it is unknown. `first` is the count at
    which this process began: a resumed part does not begin with 0. `before` are the seconds of earlier attempts.
    `came` is the first observation of progress, as seconds and count.
    """

    name: str
    size: float
    lead: Foreseen
    units: Foreseen
    done: int = 0
    total: int | None = None
    first: int = 0
    seconds: float = 0.0
    before: float = 0.0
    begun: bool = False
    finished: bool = False
    marks: list[tuple[float, int]] = field(default_factory=list)
    came: tuple[float, int] | None = None

    @property
    def weight(self) -> float:
        """The seconds that all of the part is foreseen to take."""
        return self.lead.median + self.units.median

    @property
    def share(self) -> float:
        """Share of the part that is done, 0 … 1; 0 while its size is unknown."""
        if self.finished:
            return 1.0
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def steady(self) -> tuple[float, float]:
        """The seconds since the first units came, and the share of the part that was done in them."""
        done = self.total if self.finished and self.total else self.done
        if self.came is None or not self.total or done <= self.came[1]:
            return 0.0, 0.0
        return self.seconds - self.came[0], (done - self.came[1]) / self.total

    def mark(self, seconds: float) -> None:
        """Keep an observation; if there are many, every second one is dropped."""
        if self.marks and self.marks[-1][1] == self.done:
            return
        if self.came is None and self.done > self.first:
            self.came = seconds, self.done
        self.marks.append((seconds, self.done))
        if len(self.marks) > MARKS:
            self.marks = self.marks[::2]

    def by_rate(self) -> Foreseen | None:
        """Return what is left at the rate so far, or None if nothing has been done yet.

        The rates of all that was done and of its newest share are both looked at: how far they are apart tells how much
        the rate changes. Until something has come after the first units, the rate is that of these and of all that was
        before them.
        """
        if not self.total or self.came is None:
            return None
        begin = self.came if self.done > self.came[1] else (0.0, self.first)
        since = self.done - RECENT * (self.done - begin[1])
        newest = max((mark for mark in self.marks if begin[1] <= mark[1] <= since), default=begin)
        ended, last = self.marks[-1]
        if last <= newest[1] or ended <= newest[0]:
            return None
        waited = self.seconds - ended
        # While nothing comes, the rate is at most what it were if as much as the last time came now.
        block = min(last - max(begin[1], self.marks[-2][1] if len(self.marks) > 1 else 0), self.total - last)
        whole, new = (
            max(
                (self.total - last) * (ended - at) / (last - done) - waited,
                (self.total - last - block) * (self.seconds - at) / (last + block - done),
                OVERDUE * waited,
                LEAST,
            )
            for at, done in (begin, newest)
        )
        apart = math.log(whole / new) / 2
        known = RATE / math.sqrt(max(self.steady[1], LEAST))
        return Foreseen(math.sqrt(whole * new), math.hypot(apart, known, self._scatter()))

    def observed(self) -> tuple[float, float]:
        """Return the seconds that the part has told of, and those that were foreseen for the same work."""
        seconds, share = self.steady
        if share:
            return seconds, self.units.median * share
        if self.finished:
            return self.seconds, self.weight * ((self.total - self.first) / self.total if self.total else 1.0)
        if not self.total:
            # Only that it takes longer than foreseen is known.
            return self.seconds, min(self.weight, self.seconds)
        # The first units may have waited for a start; that they came early is known.
        should = self.lead.median + self.units.median * (self.done - self.first) / self.total
        return (min(self.came[0], should), should) if self.came else (0.0, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the part as JSON, as a job's row stores it and `former_of` reads it."""
        return {
            "name": self.name, "weight": round(self.weight, 3), "size": round(self.size, 4), "done": self.done,
            "total": self.total, "seconds": round(self.before + self.seconds, 2), "finished": self.finished,
            "steady": [round(self.steady[0], 2), round(self.steady[1], 4)],
        }  # fmt: skip

    def _scatter(self) -> float:
        """Return the spread of the mean rate of what is left, as far as the rates so far scattered."""
        marks = [mark for mark in self.marks if self.came is None or mark[1] >= self.came[1]]
        rates = [
            math.log((done - before) / (at - since))
            for (since, before), (at, done) in pairwise(marks)
            if at > since and done > before
        ]
        if len(rates) < 2 or not self.total:
            return 0.0
        to_come = max(1.0, len(rates) * (self.total - self.done) / (self.done - marks[0][1]))
        return SCATTER * stdev(rates) * math.sqrt(1 / len(rates) + 1 / to_come)


def new_part(name: str, size: float, former: Sequence[Former], before: float) -> WorkPart:
    """Return a part with what is foreseen of it. Without former work its lead is not told from its units."""
    lead = foresee([(CONSTANT, one.lead) for one in former], CONSTANT) if former and size else Foreseen(0.0, 0.0)
    return WorkPart(name, size, lead, foresee([(one.size, one.units) for one in former], size), before=before)


def former_of(progress: Mapping[str, Any]) -> Iterator[tuple[str, Former]]:
    """Yield (part, what it took) of the stored progress of work that is done; nothing of parts that had no size.

    The seconds of a part are those before its first unit, and those of all its units at their steady rate.
    """
    for part in progress.get("parts", []):
        seconds, (steady, share) = part.get("seconds") or 0.0, part.get("steady") or (0.0, 0.0)
        units = min(seconds, steady / share) if share else seconds
        # Jobs of earlier versions named the size otherwise.
        if size := part.get("size") or part.get("foreseen"):
            yield part["name"], Former(size, seconds - units, units)
