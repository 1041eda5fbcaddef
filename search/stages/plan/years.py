"""What the values of a field are: whether they are years, and between which ends its numbers lie."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from search.domain.graph import Field, NodeType
from search.interfaces import NodeStore
from search.language.quantities import FIRST_YEAR, LAST_YEAR

_YEARS = 0.9
"""Least share of a field's values that can be years, for the field to count as a field of years."""
_DATE = re.compile(r"[12]\d{3}(-?[01]\d(-?[0-3]\d)?)?([T ].*)?")
"""Dates as they are written in fields, with or without hyphens; they sort by time, but for mixed ways in one year."""


@dataclass
class YearFields:
    """Decides which fields of a release hold years, once for each field. Threads may share it."""

    nodes: NodeStore
    _known: dict[tuple[str, str], bool] = field(default_factory=dict, init=False)
    _ends: dict[tuple[str, str], tuple[float, float] | None] = field(default_factory=dict, init=False)

    def __call__(self, kind: NodeType, measured: Field) -> bool:
        """Return whether the field of that type holds dates, numbers that can be years, or keywords that are dates."""
        if measured.kind == "date":
            return True
        key = kind.name, measured.name
        if key not in self._known:
            values = self._values(kind, measured)
            fit = [_DATE.fullmatch(v) is not None if isinstance(v, str) else _is_year(v) for v in values]
            self._known[key] = bool(fit) and sum(fit) >= _YEARS * len(fit)
        return self._known[key]

    def ends(self, kind: NodeType, measured: Field) -> tuple[float, float] | None:
        """Return the least and the largest number that the field of that type holds; None if it holds none."""
        key = kind.name, measured.name
        if key not in self._ends:
            values = [one for one in self._values(kind, measured) if not isinstance(one, str)]
            self._ends[key] = (min(values), max(values)) if values else None
        return self._ends[key]

    def _values(self, kind: NodeType, measured: Field) -> list[float | str]:
        sample = self.nodes.values(kind.name, measured.name)
        return [item for value in sample for item in (value if isinstance(value, list) else [value])]


def _is_year(value: float) -> bool:
    return value == int(value) and FIRST_YEAR <= value <= LAST_YEAR
