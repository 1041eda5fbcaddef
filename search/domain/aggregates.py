"""Aggregates: one number computed from a field of all answers of a plan."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from search.domain.plan.parts import Aggregate

Number = int | float


@dataclass(frozen=True, slots=True)
class Aggregated:
    """The sum, mean, minimum or maximum (`function`) of the number field `field` over all answers of a plan.

    `nodes` is the number of answers that have the field, `answers` the number of all answers. `value` is None if no
    answer has the field. `complete` says that the answers are all that there are.
    """

    function: Aggregate
    field: str
    value: Number | None
    nodes: int
    answers: int
    complete: bool = True

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Aggregated:
        """Return the aggregate that `to_json` wrote."""
        return cls(**data)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def aggregated(function: Aggregate, field: str, values: Collection[object], *, complete: bool = True) -> Aggregated:
    """Return the aggregate of the values that the answers have in a field, one value for each answer.

    Values that are no numbers, such as None, are left out.
    """
    return Aggregated(function, field, computed(function, values), len(_numbers(values)), len(values), complete)


def computed(function: Aggregate, values: Collection[object]) -> Number | None:
    """Return the sum, mean, minimum or maximum of those values that are numbers; None if none is."""
    numbers = _numbers(values)
    return _FUNCTIONS[function](numbers) if numbers else None


def _numbers(values: Collection[object]) -> list[Number]:
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def _sum(numbers: Sequence[Number]) -> Number:
    """Return the sum, the same in whatever order the numbers are: exact for whole numbers, else rounded once."""
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    try:
        return math.fsum(numbers)
    except OverflowError:
        return round(_exact(numbers))


def _mean(numbers: Sequence[Number]) -> Number:
    """Return the mean, rounded once."""
    try:
        return statistics.mean(numbers)
    except OverflowError:
        return round(_exact(numbers) / len(numbers))


def _exact(numbers: Sequence[Number]) -> Fraction:
    """Return a sum for which no float is large enough."""
    return sum(map(Fraction, numbers), Fraction())


_FUNCTIONS: Mapping[Aggregate, Callable[[Sequence[Number]], Number]] = {
    "sum": _sum, "mean": _mean, "min": min, "max": max,
}  # fmt: skip
