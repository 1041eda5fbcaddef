"""Partial matches while a statement is put together."""

from __future__ import annotations

from dataclasses import dataclass, field

from search.domain.graph import Direction


@dataclass
class Rows:
    """Partial matches under construction: what they are selected from, and which expression holds which node.

    `marks` are the remembered nodes of dropped variables, `dropped` says that duplicates may have come up since the
    rows were last made distinct. `size` is how many rows are expected; `untouched` is the variable whose given nodes
    are all that the rows hold so far.
    """

    items: list[str]
    columns: dict[str, str]
    anchors: list[str]
    score: str
    conditions: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    dropped: bool = False
    size: float = 1.0
    untouched: str | None = None

    def body(self) -> str:
        """Return FROM and WHERE."""
        where = f"\nWHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        return "FROM " + "\n".join(self.items) + where

    def apart(self, column: str, *, but: str) -> None:
        """Demand that `column`, which holds the variable `but`, is none of the nodes that the anchors are bound to."""
        self.conditions += [f"{column} <> {self.columns[anchor]}" for anchor in self.anchors if anchor != but]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to walk a hop: the column where the walk stands, the one it goes to, and the latter's type."""

    here: str
    there: str
    there_type: str
    stored: Direction
    """`out` when the edge is stored from the hop's source to its `to_var`."""
