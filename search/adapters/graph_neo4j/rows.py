"""Partial matches while a statement is put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Rows:
    """Partial matches under construction: the clauses that make them, and the Cypher variables that hold their nodes.

    `columns` are the variables still needed, `anchors` those of them that anchors are bound to. `marks` are the
    remembered nodes of dropped variables: name → expression. `dropped` says that duplicates may have come up since the
    rows were last made distinct. `lists` are the results of earlier steps that the clauses read, `size` is how many
    rows are expected, and `untouched` is the variable whose given nodes are all that the rows hold so far. Every row
    has a `score`.
    """

    clauses: list[str]
    columns: list[str]
    anchors: list[str]
    marks: dict[str, str] = field(default_factory=dict)
    dropped: bool = False
    lists: list[str] = field(default_factory=list)
    size: float = 1.0
    untouched: str | None = None

    @property
    def held(self) -> list[str]:
        """Return every variable of a row that is carried on, the score last."""
        return [*self.columns, *self.marks, "score"]

    def where(self, conditions: Sequence[str]) -> None:
        """Keep the rows that satisfy the conditions.

        They follow a WITH, so that Neo4j's planner walks from the nodes at hand and does not begin anew with every node
        of a type.
        """
        if conditions:
            self.clauses.append(f"WITH * WHERE {' AND '.join(conditions)}")

    def apart(self, column: str, *, but: str) -> list[str]:
        """Return the conditions that `column` holds none of the nodes that the anchors are bound to, `but`'s aside."""
        return [f"{column} <> {anchor}" for anchor in self.anchors if anchor != but]

    def opened(self) -> list[str]:
        """Return the clauses behind the opening of a subquery that they can stand in."""
        return [f"CALL ({', '.join(self.lists)}) {{", *self.clauses]
