"""Foresees how long work takes from how long former work has taken, with a spread that says how sure this is.

A duration is described by its median and its spread, the standard deviation of its natural logarithm. It follows the
log-logistic distribution: work that has taken longer than foreseen is expected to need longer still, in proportion.

Former work is a list of (size, seconds). Sizes are seconds of a reference machine, computed from what is to be done
(rows, characters, questions). The logarithm of the seconds is taken to be `intercept + slope · log(size)`; both are
estimated by Bayesian linear regression (Bishop, Pattern Recognition and Machine Learning, section 3.3), which begins
with seconds that are proportional to the size, and leaves that only where the former work says so. So little history,
or history of other sizes, gives a wide spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

UNKNOWN = 1.5
"""Spread of the intercept without history: the reference machine says little about this one."""
CURVED = 0.25
"""Spread of the slope around 1 without history."""
NOISE, NOISE_JOBS = 0.35, 2.0
"""Spread between two runs of the same work without history, and the number of runs that this guess counts as."""
BRIEF = 0.5
"""Seconds that are added to both sides where durations are compared, because short ones are mostly noise."""
SURPRISE = 0.25
"""Spread that is added for each e-fold by which something has already lasted longer than foreseen."""
LARGEST = 10.0
"""Logarithm of the largest ratio that is told from any other: everything beyond is unknown."""
CONSTANT = 1.0
"""Size of what takes as long for much work as for little."""
OUTSIDE = 0.05
"""Probability of each end of the shown range that the true value lies beyond it."""
LOGISTIC = math.pi / math.sqrt(3)
"""Standard deviation of the standard logistic distribution."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """A duration: what it is about, and the range in which it lies nine times of ten."""

    low: float
    middle: float
    high: float

    def __add__(self, other: Seconds) -> Seconds:
        """Return the sum of two durations whose errors are independent."""
        middle = self.middle + other.middle
        below = math.hypot(self.middle - self.low, other.middle - other.low)
        above = math.hypot(self.high - self.middle, other.high - other.middle)
        return Seconds(max(0.0, middle - below), middle, middle + above)

    def widened(self, spread: float) -> Seconds:
        """Return this duration times a factor of about 1 with this spread."""
        factor = Foreseen(self.middle, spread).left()
        below = math.hypot(self.middle - self.low, self.middle - factor.low)
        above = math.hypot(self.high - self.middle, factor.high - self.middle)
        return Seconds(max(0.0, self.middle - below), self.middle, self.middle + above)


NONE = Seconds(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A duration that has not ended: its median in seconds, and its spread."""

    median: float
    spread: float

    def times(self, factor: float, spread: float = 0.0) -> Foreseen:
        """Return this duration times a factor, which has a spread of its own."""
        return Foreseen(self.median * factor, math.hypot(self.spread, spread))

    def combined(self, other: Foreseen) -> Foreseen:
        """Return what two sources say about one duration; the surer one counts more, and both less if they disagree."""
        if self.median <= 0 or other.median <= 0:
            return self if self.median > 0 else other
        mine, its = 1 / self.spread**2, 1 / other.spread**2
        mine, apart = mine / (mine + its), math.log(self.median / other.median)
        spread = self.spread * math.sqrt(mine)
        return Foreseen(other.median * math.exp(mine * apart), math.hypot(spread, apart * math.sqrt(mine * (1 - mine))))

    def left(self, after: float = 0.0) -> Seconds:
        """Return what is left of the duration once it has lasted `after` seconds."""
        if self.median <= 0:
            return NONE
        # What has long been overdue was foreseen wrongly: the later it is, the less is known.
        late = SURPRISE * max(0.0, math.log((after + BRIEF) / (self.median + BRIEF)))
        shape = LOGISTIC / max(math.hypot(self.spread, late), 1e-6)
        # P(longer than t) = 1 / (1 + (t / median) ** shape); the quantiles are those of what lasts longer than `after`.
        try:
            odds = math.pow(after / self.median, shape)
        except OverflowError:
            odds = math.inf

        def quantile(probability: float) -> float:
            if odds > 1e9:
                return after * math.expm1(-math.log1p(-probability) / shape)
            return self.median * math.pow((1 + odds) / (1 - probability) - 1, 1 / shape) - after

        low, middle, high = (max(0.0, quantile(at)) for at in (OUTSIDE, 0.5, 1 - OUTSIDE))
        return Seconds(low, middle, high)


def foresee(former: Sequence[tuple[float, float]], size: float) -> Foreseen:
    """Return how long work of a size takes, from the (size, seconds) of former work."""
    if size <= 0:
        return Foreseen(0.0, 0.0)
    xs = [math.log(one) for one, _ in former if one > 0]
    # What is fitted are the seconds for each second of the size, so that a slope of 0 is the proportion of the start.
    ys = [math.log((seconds + BRIEF) / (one + BRIEF)) for one, seconds in former if one > 0]
    here, jobs = math.log(size), len(xs)
    # Counted from the mean of the former sizes, intercept and slope are independent of each other.
    mean = sum(xs) / jobs if jobs else here
    squares, products = sum((x - mean) ** 2 for x in xs), sum((x - mean) * y for x, y in zip(xs, ys, strict=True))
    noise = NOISE**2
    for _ in range(2):
        surely, slopes = 1 / UNKNOWN**2 + jobs / noise, 1 / CURVED**2 + squares / noise
        intercept, slope = sum(ys) / noise / surely, products / noise / slopes
        off = sum((y - intercept - slope * (x - mean)) ** 2 for x, y in zip(xs, ys, strict=True))
        noise = (NOISE_JOBS * NOISE**2 + off) / (NOISE_JOBS + jobs)
    median = math.exp(min(intercept + slope * (here - mean), LARGEST)) * (size + BRIEF) - BRIEF
    spread = math.sqrt(1 / surely + (here - mean) ** 2 / slopes + noise)
    return Foreseen(max(0.0, median), min(spread, LARGEST))
