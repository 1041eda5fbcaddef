"""Partial matches as arrays: one column for each variable, one row for each match."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Keys

Rows = NDArray[np.int64]
NOBODY = -1
"""Entry of a mark in the rows where the dropped variable took no node that has to be remembered."""


@dataclass
class MatchTable:
    """Partial matches; all arrays have one entry for each row.

    `columns` holds the keys that each variable takes. `marks` are the remembered nodes of dropped variables, `taken`
    the edge that each hop took, if these are wanted: twice the code of its relation, and 1 more if it is stored in the
    hop's direction. For `dropped`, `size` and `untouched` see `graph_matching.eliminate.PartialMatches`.
    """

    columns: dict[str, Keys]
    anchors: list[str]
    marks: list[Keys] = field(default_factory=list)
    taken: dict[int, Rows] = field(default_factory=dict)
    dropped: bool = False
    size: float = 1.0
    untouched: str | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, rows: Rows | NDArray[np.bool_]) -> None:
        """Keep these rows, given by position or as a mask; a position may be repeated."""
        self.columns = {var: column[rows] for var, column in self.columns.items()}
        self.marks = [mark[rows] for mark in self.marks]
        self.taken = {hop: way[rows] for hop, way in self.taken.items()}
        self.size = len(self)

    def is_same(self, var: str) -> bool:
        """Return whether a variable takes the same node in all rows."""
        return _is_same(self.columns[var])

    def keep_apart(self, var: str) -> None:
        """Keep the rows in which a variable takes a node that none of the other anchors is bound to."""
        apart = np.ones(len(self), dtype=bool)
        for anchor in self.anchors:
            if anchor != var:
                apart &= self.columns[var] != self.columns[anchor]
        if not apart.all():
            self.take(apart)

    def make_distinct(self) -> None:
        """Keep one of several equal rows."""
        compared = [column for column in (*self.columns.values(), *self.marks) if not _is_same(column)]
        if len(compared) < 2:
            rows = np.unique(compared[0], return_index=True)[1] if compared else np.arange(min(len(self), 1))
            self.take(rows)
            self.dropped = False
            return
        order = np.lexsort(compared)
        fresh = np.zeros(len(order), dtype=bool)
        fresh[:1] = True
        for column in compared:
            fresh[1:] |= np.diff(column[order]) != 0
        self.take(order[fresh])
        self.dropped = False


def _is_same(column: Keys) -> bool:
    return not len(column) or bool((column == column[0]).all())
