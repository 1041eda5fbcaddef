"""Shortest walks between the variables of a plan, over its hops in either direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Leg(NamedTuple):
    """One hop of a walk: where it is left and reached, and whether it is turned round.

    `hop` is the place of the hop in the plan. `turned` says that the walk takes it against the order in which it is
    written.
    """

    hop: int
    here: str
    there: str
    turned: bool


def routes(hops: Sequence[tuple[str, str]], start: str) -> dict[str, tuple[Leg, ...]]:
    """Return the shortest walk from a variable to each one that it reaches, itself with no leg among them.

    `hops` are the two ends of each hop in the order of the plan; of equally short walks the first by hops is taken.
    """
    found: dict[str, tuple[Leg, ...]] = {start: ()}
    frontier = [start]
    while frontier:
        following: list[str] = []
        for var in frontier:
            for index, (source, target) in enumerate(hops):
                for here, there, turned in ((source, target, False), (target, source, True)):
                    if here == var and there not in found:
                        found[there] = (*found[var], Leg(index, here, there, turned))
                        following.append(there)
        frontier = following
    return found
