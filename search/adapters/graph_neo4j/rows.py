"""Partial matches while a Cypher statement is being compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class CypherRows:
    """Partial matches under construction: the clauses that produce them, and the variables that hold their nodes.

    `columns` are the Cypher variables that are still needed, `anchors` those of them that anchors are bound to. `marks`
    are the remembered nodes of dropped variables: name → expression. `scores` are the Cypher variables of the anchors'
    scores. `dropped` says that the rows may contain duplicates since they were last made distinct. `lists` are the
    results of earlier steps that the clauses read. `size` is the expected number of rows. `untouched` is the variable
    whose given nodes are the whole content of the rows so far.
    """

    clauses: list[str]
    columns: list[str]
    anchors: list[str]
    marks: dict[str, str] = field(default_factory=dict)
    scores: dict[str, str] = field(default_factory=dict)
    dropped: bool = False
    lists: list[str] = field(default_factory=list)
    size: float = 1.0
    untouched: str | None = None

    @property
    def held(self) -> list[str]:
        """Every variable of a row that is passed on, with the scores last."""
        return [*self.columns, *self.marks, *self.scores.values()]

    def where(self, conditions: Sequence[str]) -> None:
        """Keep the rows that satisfy the conditions.

        The conditions follow a WITH. Otherwise Neo4j's planner might start again from all nodes of a type instead of
        from the nodes at hand.
        """
        if conditions:
            self.clauses.append(f"WITH * WHERE {' AND '.join(conditions)}")

    def apart(self, column: str, *, but: str) -> list[str]:
        """Return the conditions that `column` differs from the nodes of all anchors except `but`."""
        return [f"{column} <> {anchor}" for anchor in self.anchors if anchor != but]

    def opened(self) -> list[str]:
        """Return the clauses preceded by the opening of a subquery that imports the lists they read."""
        return [f"CALL ({', '.join(self.lists)}) {{", *self.clauses]
