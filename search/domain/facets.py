"""Facets: the values that a set of answers has in one respect, and how well they split it.

A facet is useful if a click on one of its shown values takes many answers away, and if most answers have a shown value.
Its worth is the product of both: the share of the answers that a shown value has, times the share that a click takes
away on average, where values are clicked in proportion to their counts (one minus Simpson's index, 1949). It is 0 where
all answers have the same value, and near 0 where each has its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

FacetKind = Literal["type", "field", "relation"]
Number = int | float

MOST_VALUES = 6
"""Values that a facet shows."""
RANGES = 4
"""Ranges that the values of a number or date are split into."""
FEW_VALUES = 5
"""Numbers with at most this many different values are shown one by one."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet: its label, the number of answers that have it, and what it adds to the plan.

    `adds` has the keys of a plan: `{"filters": […]}`, `{"anchors": […], "hops": […]}` or `{"target": {"labels"}}`.
    """

    label: str
    count: int
    adds: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return label, count and what it adds."""
        return {"label": self.label, "count": self.count, "adds": dict(self.adds)}


@dataclass(frozen=True, slots=True)
class Facet:
    """Values of the answers in one respect, most frequent first, or ranges in their order.

    `values` are those that are shown. `more` is the number of further values, `worth` is explained in the module.
    """

    kind: FacetKind
    name: str
    values: tuple[FacetValue, ...]
    worth: float
    more: int = 0
    direction: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the facet as the API shows it."""
        return {
            "kind": self.kind, "name": self.name, "more": self.more, "worth": round(self.worth, 4),
            "values": [value.to_json() for value in self.values],
        } | ({"direction": self.direction} if self.direction else {})  # fmt: skip


def worth(counts: Sequence[int], answers: int) -> float:
    """Return the worth of a facet whose shown values have these counts, among so many answers."""
    shown = sum(counts)
    if not shown or not answers:
        return 0.0
    left = sum(count * count for count in counts) / shown / answers
    return min(1.0, shown / answers) * max(0.0, 1.0 - left)


def most_frequent(texts: Iterable[Sequence[str]]) -> list[tuple[str, int]]:
    """Return the values of texts and the numbers of answers that have them, most frequent first, then by value.

    Each item holds the values of one answer. Values that differ in case only are one, as for the filter `=`; the most
    frequent spelling is returned.
    """
    spellings: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    for several in texts:
        for text in several:
            spellings.setdefault(text.lower(), Counter())[text] += 1
        counts.update({text.lower() for text in several})
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [(min(spellings[low].items(), key=lambda one: (-one[1], one[0]))[0], count) for low, count in ordered]


def ranges(values: Sequence[Sequence[Any]]) -> list[tuple[Any, Any, int]]:
    """Return ranges that split values into about equal parts: lowest and highest value, and the number of answers.

    Each item holds the values of one answer, all numbers or all texts. Both ends of a range are values, so the ranges
    leave none out; an answer with several values may be in several ranges. Equal values are never split.
    """
    listed = sorted(value for several in values for value in several)
    if not listed:
        return []
    distinct = sorted(set(listed))
    if len(distinct) <= FEW_VALUES:
        ends = [(value, value) for value in distinct]
    else:
        cuts = {listed[round(at * len(listed) / RANGES)] for at in range(1, RANGES)} - {distinct[0]}
        starts = [distinct[0], *sorted(cuts)]
        before = dict(zip(distinct[1:], distinct, strict=False))
        ends = [
            (start, before[following] if following is not None else distinct[-1])
            for start, following in zip(starts, [*starts[1:], None], strict=True)
        ]
    return [(low, high, sum(any(low <= one <= high for one in some) for some in values)) for low, high in ends]


def date_ranges(values: Sequence[Sequence[str]]) -> list[tuple[str, str, int]]:
    """Return ranges of ISO dates, as `ranges` does, which never split a year; of a single year, never a month."""
    for characters in (4, 7, 10):
        begun = [[value[:characters] for value in several] for several in values]
        parts = ranges(begun)
        if len(parts) > 1:
            break
    else:
        return ranges(values)
    found = []
    for low, high, count in parts:
        inside = [value for several in values for value in several if low <= value[:characters] <= high]
        found.append((min(inside), max(inside), count))
    return found


def best(facets: Iterable[Facet], most: int, least: float) -> list[Facet]:
    """Return the `most` facets of the largest worth, of those worth at least `least`.

    A facet whose values are those of single answers is left out: it only lists the answers again.
    """
    useful = [
        facet
        for facet in facets
        if facet.worth >= least and len(facet.values) > 1 and max(value.count for value in facet.values) > 1
    ]
    return sorted(useful, key=lambda facet: (-facet.worth, facet.kind, facet.name, facet.direction))[:most]
