"""Estimates the time left of long work that consists of parts, as a range, from former work and what is observed.

Each part has a *size*, which are the seconds that a reference machine would need for it. What former jobs needed for
theirs says what it takes on this machine (`search.domain.foresight`). Two observations correct that:

- Within a part, the observed rate, the more, the more of the part is done.
- Between parts, the pace: how much longer the parts so far have taken than was foreseen. A busy machine is expected to
  stay busy.

What comes before the first unit of a part (models are loaded, processes are started) is its *lead*. It comes once, so
it is no rate, and it is foreseen apart from the units. Until a second unit has come, the first is an upper bound.

The range holds the true time nine times of ten. A range that is too wide to be of use is not shown: without former work
little is known until the work itself has shown how fast it is.

Times are seconds of any clock that only goes forward. All classes are independent of the clock and of threads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.foresight import NONE, Seconds
from search.domain.work_parts import LEAST, History, WorkPart, new_part

BUSY = 0.5
"""Spread of the pace: how much faster or slower all of a job may be than former ones."""
STRANGE = 1.0
"""Spread of the pace of a machine without any history, beside `BUSY`."""
WIDEST = 3.0
"""A range is shown if its high end is at most so many times its middle, or if it ends within `SOON` seconds."""
SOON = 3.0
SHORT = 0.5
"""Seconds that are added to both sides where the pace is measured, because short parts are mostly noise."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How far the work is: the present part, the share that is done (0 … 1), and the time left if there is a guess.

    `parts` are the parts in their order, for display.
    """

    part: str
    done: int
    total: int | None
    share: float
    left: Seconds | None
    seconds: float
    parts: tuple[WorkPart, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object, as a job's row stores it."""
        left = self.left
        return {
            "part": self.part, "done": self.done, "total": self.total, "share": round(self.share, 4),
            "seconds_left": None if left is None else round(left.middle, 1),
            "seconds_left_range": None if left is None else [round(left.low, 1), round(left.high, 1)],
            "seconds": round(self.seconds, 1),
            "parts": [part.to_json() for part in self.parts],
        }  # fmt: skip


class Estimator:
    """Receives the reports of work and estimates its time left.

    `parts` maps the name of each planned part, in order, to its size. Parts that nobody planned are added when they are
    first reported; nothing is foreseen of them. When a part begins, all parts before it are finished. `spent` holds the
    seconds of each part in earlier attempts of the same work.
    """

    def __init__(
        self,
        parts: Mapping[str, float],
        now: float,
        spent: Mapping[str, float] | None = None,
        history: History | None = None,
    ) -> None:
        before, former = spent or {}, history or {}
        self._parts = [
            new_part(name, size if size >= LEAST else 0.0, former.get(name, ()), before.get(name, 0.0))
            for name, size in parts.items()
        ]
        self._strange = 0.0 if former else STRANGE
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
            whole = NONE if ended else self._rest(self._parts, *self._pace(), waited=now - self._began)
            left = _useful(whole) if self._parts else None
            return Estimate("", 0, None, float(ended), left, now - self._began, tuple(self._parts))
        current = self._parts[self._at]
        if not current.finished:
            current.seconds = now - self._entered
        pace, spread = self._pace()
        running = self._left(current, pace, spread)
        left = None
        if running is not None:
            rest = self._rest([part for part in self._parts[self._at + 1 :] if not part.finished], pace, spread)
            whole = running + rest
            # Whatever the parts to come need, it is no less than what the running one does.
            left = _useful(Seconds(max(whole.low, running.low), whole.middle, whole.high))
        return Estimate(
            current.name, current.done, current.total, self._share(), left, now - self._began, tuple(self._parts)
        )

    def _enter(self, name: str, done: int, now: float) -> None:
        first = self._at < 0
        self._settle(now)
        known = [part.name for part in self._parts]
        if name not in known:
            self._parts.insert(self._at + 1, new_part(name, 0.0, (), 0.0))
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

    def _pace(self) -> tuple[float, float]:
        """Return how many times longer the work so far has taken than foreseen, and the spread of that factor.

        Its logarithm is the mean of a normal distribution with a normal prior. Parts that are brief, or that were
        foreseen badly, say little.
        """
        precision = 1 / (BUSY**2 + self._strange**2)
        total = 0.0
        for part in self._parts:
            took, foreseen = part.observed() if part.begun and part.size else (0.0, 0.0)
            if foreseen:
                weight = 1 / (part.units.spread**2 + (SHORT / max(took, foreseen, LEAST)) ** 2)
                total += weight * math.log((took + SHORT) / (foreseen + SHORT))
                precision += weight
        return math.exp(total / precision), math.sqrt(1 / precision)

    def _rest(self, parts: Sequence[WorkPart], pace: float, spread: float, waited: float = 0.0) -> Seconds:
        """Return what the parts to come take, at a pace that all of them share; the first has waited for a start."""
        whole = NONE
        for part in parts:
            whole += part.lead.times(pace).left(waited) + part.units.times(pace).left()
            waited = 0.0
        return whole.widened(spread)

    def _left(self, part: WorkPart, pace: float, spread: float) -> Seconds | None:
        """Return what is left of the present part, or None if neither a size nor a rate is known."""
        if part.finished:
            return NONE
        by_rate, units = part.by_rate(), part.units.times(pace, spread)
        if not part.size:
            return None if by_rate is None else by_rate.left()
        if not part.total:
            return units.left(part.seconds)
        units = units.times(1 - part.share)
        if by_rate is None:
            return part.lead.left(part.seconds) + units.left()
        return by_rate.combined(units).left()

    def _share(self) -> float:
        """Return the share of the work that is done, by weight; without weights, that of the present part."""
        whole = sum(part.weight for part in self._parts)
        if not whole:
            return self._parts[self._at].share
        return sum(part.weight * part.share for part in self._parts) / whole


def _useful(left: Seconds) -> Seconds | None:
    """Return a range that is narrow enough to be of use, or None."""
    return left if left.high <= max(SOON, WIDEST * left.middle) else None
