"""Partial matches while an SQL statement is being compiled."""

from __future__ import annotations

from dataclasses import dataclass, field

from search.domain.graph import Direction


@dataclass
class SqlRows:
    """Partial matches under construction: the FROM items, and the expression that holds each variable's node.

    `scores` holds the expression of each anchor's score. `marks` are the remembered nodes of dropped variables.
    `dropped` says that the rows may contain duplicates since they were last made distinct. `size` is the expected
    number of rows. `untouched` is the variable whose given nodes are the whole content of the rows so far.
    """

    items: list[str]
    columns: dict[str, str]
    anchors: list[str]
    scores: dict[str, str]
    conditions: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    dropped: bool = False
    size: float = 1.0
    untouched: str | None = None

    def body(self) -> str:
        """Return the FROM and WHERE clauses."""
        where = f"\nWHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        return "FROM " + "\n".join(self.items) + where

    def apart(self, column: str, *, but: str) -> None:
        """Require that `column`, the node of the variable `but`, differs from the nodes of all other anchors."""
        self.conditions += [f"{column} <> {self.columns[anchor]}" for anchor in self.anchors if anchor != but]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to walk a hop: the column of the near node, of the far node, and of the far node's type."""

    here: str
    there: str
    there_type: str
    stored: Direction
    """`out` if the edge is stored from the hop's source to its `to_var`."""
