"""Spans of years where years are nodes: *since 2000*, *the 90s*, *before 1960* name every year within them.

Then walks, joins and exclusions need to know nothing of spans, for a name may have several nodes anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

from search.interfaces import MentionIndex, NodeStore
from search.language.quantities import FIRST_YEAR, LAST_YEAR
from search.stages.plan.derivation import Amount
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.sets import Named
from search.stages.plan.years import YearFields

_MOST = 0.9
"""Least share of the nodes of a type whose names are years, for it to be a type of years."""


class YearNodes:
    """The nodes of years of a base, if some type has hardly any other nodes and fields cannot say spans of years."""

    def __init__(self, knowledge: Knowledge, mentions: MentionIndex, nodes: NodeStore) -> None:
        self.code, self.keys = 0, dict[int, int]()
        found: dict[int, dict[int, int]] = {}
        for year in range(FIRST_YEAR, LAST_YEAR + 1):
            keys = list(mentions.lookup(str(year)))
            for key, code in zip(keys, nodes.types(keys).tolist() if keys else (), strict=True):
                found.setdefault(code, {}).setdefault(year, key)
        years, types = YearFields(nodes), knowledge.schema.node_types
        for code, known in found.items():
            beside = {code, *_joined(knowledge, code)}
            dated = any(years(types[other], one) for other in beside for one in types[other].fields if one.coverage)
            if len(known) >= _MOST * types[code].count and not dated:
                self.code, self.keys = code, known
                return

    def within(self, said: Amount, text: str) -> Named | None:
        """Return all years of a span; None for a single year, for parts of years, and if there is none."""
        if said.days is not None and max(map(len, said.days)) > len(str(LAST_YEAR)):
            return None
        low, high = said.low, said.high
        ends: dict[str, tuple[float, float]] = {
            "<": (FIRST_YEAR, low - 1), "<=": (FIRST_YEAR, high), ">": (high + 1, LAST_YEAR), ">=": (low, LAST_YEAR),
            "between": (low, high),
        }  # fmt: skip
        if said.op not in ends:
            return None
        first, last = ends[said.op]
        keys = tuple(key for year, key in self.keys.items() if first <= year <= last)
        return Named(1 << self.code, keys, text) if keys else None


def _joined(knowledge: Knowledge, code: int) -> Iterator[int]:
    """Yield the codes of the types that some relation joins with a type."""
    for relation in range(len(knowledge.schema.relations)):
        yield from knowledge.shape.far_ends(code, relation, "out")
        yield from knowledge.shape.far_ends(code, relation, "in")
