"""Estimates the time left of long work that consists of parts, from what is expected and what has been observed.

Each part has an expected duration, which serves twice: as its weight in the share of the work that is done, and as the
first estimate of its duration. Two observations correct the estimate:

- Within a part, the observed rate. While little of a part is done its rate says little, so its expected duration counts
  as well: as much as `TRUST` of the part's progress would.
- Between parts, the pace: observed divided by expected seconds. A machine that took twice the expected time for the
  finished work is expected to take twice the time for the rest.

What comes before the first unit of a part (models are loaded, processes are started) is its *lead*. It comes once, so
it is no rate: both observations begin at the first unit. Until a second one has come, the first is an upper bound.

Times are seconds of any clock that only goes forward. All classes are independent of the clock and of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TRUST = 0.03
"""Share of a part after which its own rate counts as much as its expected duration."""
FEW = 0.02
"""Share of all expected seconds by which the pace is drawn towards 1, so that the first seconds do not decide it."""
OVERDUE = 0.25
"""A part of unknown size that takes longer than expected is assumed to need this share of its time again."""
RECENT = 0.5
"""The rate of a part is measured over this newest share of its progress, because rates change with the data."""
LEAST = 1e-3
"""Expected seconds below which a part is taken to need no time."""
MARKS = 64
"""Most observations that are kept of a part to measure its newest rate."""


@dataclass(slots=True)
class Part:
    """One part: its expected seconds, what is done of what total, and the seconds that it has taken so far.

    `done` and `total` are counts in the part's own unit; `total` is None while it is unknown. `first` is the count at
    which this process began: a resumed part does not begin with 0. `before` are the seconds of earlier attempts.
    `came` is the first observation of progress, as seconds and count; `lead` are the seconds of `expected` before it.
    """

    name: str
    expected: float
    done: int = 0
    total: int | None = None
    first: int = 0
    seconds: float = 0.0
    before: float = 0.0
    begun: bool = False
    finished: bool = False
    marks: list[tuple[float, int]] = field(default_factory=list)
    lead: float = 0.0
    came: tuple[float, int] | None = None

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

    def by_rate(self) -> float | None:
        """Return the seconds left at the newest rate, or None if nothing has been done yet.

        Until something has come after the first units, the rate is that of these and of all that was before them.
        """
        if not self.total or self.came is None:
            return None
        begin = self.came if self.done > self.came[1] else (0.0, self.first)
        since = self.done - RECENT * (self.done - begin[1])
        began, at = max((mark for mark in self.marks if begin[1] <= mark[1] <= since), default=begin)
        ended, last = self.marks[-1]
        if last <= at or ended <= began:
            return None
        left = (self.total - last) * (ended - began) / (last - at)
        waited = self.seconds - ended
        return max(left - waited, OVERDUE * waited)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How far the work is: the present part, the share that is done (0 … 1), and the seconds left if there is a guess.

    `parts` are the parts in their order, for display.
    """

    part: str
    done: int
    total: int | None
    share: float
    seconds_left: float | None
    seconds: float
    parts: tuple[Part, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object, as a job's row stores it."""
        left = None if self.seconds_left is None else round(self.seconds_left, 1)
        return {
            "part": self.part, "done": self.done, "total": self.total, "share": round(self.share, 4),
            "seconds_left": left, "seconds": round(self.seconds, 1),
            "parts": [
                {
                    "name": part.name, "weight": round(part.expected, 3), "done": part.done, "total": part.total,
                    "seconds": round(part.before + part.seconds, 2), "finished": part.finished,
                    "steady": [round(part.steady[0], 2), round(part.steady[1], 4)],
                }
                for part in self.parts
            ],
        }  # fmt: skip


class Estimator:
    """Receives the reports of work and estimates its time left.

    `parts` maps the name of each planned part, in order, to its expected seconds. Parts that nobody planned are added
    when they are first reported; their expected duration is 0. When a part begins, all parts before it are finished.
    `spent` holds the seconds of each part in earlier attempts of the same work, `leads` those of the expected seconds
    that come before the first unit.
    """

    def __init__(
        self,
        parts: Mapping[str, float],
        now: float,
        spent: Mapping[str, float] | None = None,
        leads: Mapping[str, float] | None = None,
    ) -> None:
        before, lead = spent or {}, leads or {}
        self._parts = [
            Part(name, expected if expected >= LEAST else 0.0, before=before.get(name, 0.0),
                 lead=min(lead.get(name, 0.0), expected))
            for name, expected in parts.items()
        ]  # fmt: skip
        self._at = -1
        self._began = self._entered = self._seen = now

    def report(self, part: str, done: int, total: int | None, now: float) -> None:
        """Receive the progress of a part; a count that goes back says that the part has begun again."""
        self._seen = now
        if self._at < 0 or self._parts[self._at].name != part or done < self._parts[self._at].done:
            self._enter(part, done, now)
        current = self._parts[self._at]
        current.done, current.total = done, total
        current.seconds = now - self._entered
        current.finished = total is not None and done >= total
        current.mark(current.seconds)

    def finish(self, now: float) -> None:
        """Mark all parts as finished."""
        self._settle(now)
        for part in self._parts:
            part.finished = True
        self._seen = now

    def estimate(self, now: float) -> Estimate:
        """Return the estimate at a time that is not before the last report."""
        if self._at < 0:
            # Work that only found that everything was done has no current part, and all parts are finished.
            ended = bool(self._parts) and all(part.finished for part in self._parts)
            waited = min(now - self._began, self._parts[0].lead) if self._parts else 0.0
            left = 0.0 if ended else (sum(part.expected for part in self._parts) - waited) or None
            return Estimate("", 0, None, float(ended), left, now - self._began, tuple(self._parts))
        current = self._parts[self._at]
        if not current.finished:
            current.seconds = now - self._entered
        pace = self._pace()
        left = self._left(current, pace)
        rest = self._parts[self._at + 1 :]
        if left is not None:
            left += pace * sum(part.expected for part in rest if not part.finished)
        return Estimate(
            current.name, current.done, current.total, self._share(), left, now - self._began, tuple(self._parts)
        )

    def _enter(self, name: str, done: int, now: float) -> None:
        first = self._at < 0
        self._settle(now)
        known = [part.name for part in self._parts]
        if name not in known:
            self._parts.insert(self._at + 1, Part(name, 0.0))
            known.insert(self._at + 1, name)
        self._at = known.index(name)
        for part in self._parts[: self._at]:
            part.finished = True
        current = self._parts[self._at]
        # A part that is begun again keeps the time that it has taken; the first one has all the time before it, too.
        self._entered = self._began if first else now - current.seconds
        if not current.begun or done < current.done:
            current.first, current.begun, current.marks, current.came = done, True, [], None
        current.done = done

    def _settle(self, now: float) -> None:
        """Count the time up to the next part as time of the present one."""
        if self._at >= 0:
            current = self._parts[self._at]
            current.seconds, current.finished = now - self._entered, True

    def _pace(self) -> float:
        """Return observed divided by expected seconds of the work that this process has done."""
        few = FEW * sum(part.expected for part in self._parts)
        observed = expected = few
        for part in self._parts:
            if part.begun and part.expected:
                took, should = self._observed(part)
                observed, expected = observed + took, expected + should
        return observed / expected if expected > 0 else 1.0

    def _observed(self, part: Part) -> tuple[float, float]:
        """Return the seconds that a part has told of, and those that were expected for the same work."""
        units = part.expected - part.lead
        seconds, share = part.steady
        if share:
            return seconds, units * share
        if part.finished:
            return part.seconds, part.expected * ((part.total - part.first) / part.total if part.total else 1.0)
        if not part.total:
            # Only that it takes longer than expected is known.
            return part.seconds, min(part.expected, part.seconds)
        # The first units may have waited for a start; that they came early is known.
        should = part.lead + units * (part.done - part.first) / part.total
        return (min(part.came[0], should), should) if part.came else (0.0, 0.0)

    def _left(self, part: Part, pace: float) -> float | None:
        """Return the seconds left of the present part, or None if neither an expectation nor a rate is known."""
        if part.finished:
            return 0.0
        by_rate = part.by_rate()
        if not part.total:
            expected = part.expected * pace
            return max(expected - part.seconds, OVERDUE * part.seconds) if part.expected else None
        units = (part.expected - part.lead) * pace * (1 - part.share)
        if by_rate is None:
            expected = max(0.0, part.lead - part.seconds) + units
            return max(expected, OVERDUE * part.seconds) if part.expected else None
        if not part.expected:
            return by_rate
        _, share = part.steady
        if not share:
            return min(by_rate, max(units, OVERDUE * (part.seconds - part.marks[-1][0])))
        trust = share / TRUST
        return (trust * by_rate + units) / (trust + 1)

    def _share(self) -> float:
        """Return the share of the work that is done, by weight; without weights, that of the present part."""
        whole = sum(part.expected for part in self._parts)
        if not whole:
            return self._parts[self._at].share
        return sum(part.expected * part.share for part in self._parts) / whole
