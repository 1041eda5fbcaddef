"""The walks that a schema allows, those with the most edges first: hints for a planner without guidance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from search.domain.graph import Direction, RelationType
from search.prompts.briefing import Briefing

ONE_HOP = 14
"""Most walks of one hop that are shown."""
TWO_HOPS = 16
"""Most walks of two hops that are shown."""
JOINS = 4
"""Most pairs of hops with the same end that are shown."""
_RARE = 0.01
"""Relation types with a smaller share of their relation's edges are left out as oddities of the data."""


@dataclass(frozen=True, slots=True)
class MetapathWalk:
    """One hop in walking direction: from a type over a relation to a type, and the number of its edges."""

    near: str
    relation: str
    far: str
    direction: Direction
    count: int

    def __str__(self) -> str:
        left, right = ("-", "->") if self.direction == "out" else ("<-", "-")
        return f"{left}{self.relation}{right} {self.far}"


def walks(briefing: Briefing) -> list[MetapathWalk]:
    """Return every hop that the schema has, in both directions, most edges first; rare relation types are left out."""
    total: dict[str, int] = {}
    for kind in briefing.relation_types:
        total[kind.relation] = total.get(kind.relation, 0) + kind.count
    usual = [kind for kind in briefing.relation_types if kind.count >= _RARE * total[kind.relation]]
    return sorted(_both_ways(usual), key=lambda walk: (-walk.count, walk.relation, walk.direction))


def two_hops(briefing: Briefing) -> list[tuple[MetapathWalk, MetapathWalk]]:
    """Return walks of two hops, ordered by the edges of their smaller hop, most first.

    A walk back over the same relation is included: things that share a brand with something.
    """
    steps = walks(briefing)
    pairs = [(first, second) for first in steps for second in steps if first.far == second.near]
    return sorted(pairs, key=lambda pair: (-min(pair[0].count, pair[1].count), str(pair[0]), str(pair[1])))


def joins(briefing: Briefing) -> list[tuple[MetapathWalk, MetapathWalk]]:
    """Return pairs of hops over different relations that end at the same type, most edges first."""
    steps = walks(briefing)
    pairs = [
        (first, second)
        for i, first in enumerate(steps)
        for second in steps[i + 1 :]
        if first.far == second.far and first.relation != second.relation and first.near != second.near
    ]
    return sorted(pairs, key=lambda pair: (-min(pair[0].count, pair[1].count), str(pair[0]), str(pair[1])))


def metapath_lines(briefing: Briefing) -> str:
    """Return the walks that end at a type that may be the answer, one on each line."""
    answerable = set(briefing.schema.answerable)
    singles = [step for step in walks(briefing) if step.far in answerable][:ONE_HOP]
    doubles = [pair for pair in two_hops(briefing) if pair[1].far in answerable]
    shown = [f"{step.near} {step}" for step in singles]
    shown += [f"{first.near} {first} {second}" for first, second in _varied(doubles, TWO_HOPS)]
    meeting = [pair for pair in joins(briefing) if pair[0].far in answerable][:JOINS]
    shown += [f"{first.near} {first}, and {second.near} {second} (the same {first.far})" for first, second in meeting]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(shown, 1)) or "None: the graph has no relations."


def _varied(pairs: Sequence[tuple[MetapathWalk, MetapathWalk]], most: int) -> list[tuple[MetapathWalk, MetapathWalk]]:
    """Return at most `most` walks: the first one for each pair of end types, those that return to their type last."""
    by_ends: dict[tuple[str, str], tuple[MetapathWalk, MetapathWalk]] = {}
    for first, second in pairs:
        by_ends.setdefault((first.near, second.far), (first, second))
    return sorted(by_ends.values(), key=lambda pair: pair[0].near == pair[1].far)[:most]


def _both_ways(kinds: Sequence[RelationType]) -> Iterator[MetapathWalk]:
    for kind in kinds:
        for near, far, way in kind.ways:
            yield MetapathWalk(near, kind.relation, far, way, kind.count)
