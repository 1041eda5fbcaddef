"""Faults of a Cypher text, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from search.domain.errors import SearchError

MOST_SHOWN = 5
"""Most faults that a sentence for people names."""


class CypherPlace(NamedTuple):
    """A place in a text; lines and columns begin at 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class CypherFault:
    """One fault: its place, a sentence without full stop that says what is wrong, and the most similar valid name."""

    place: CypherPlace
    message: str
    nearest: str | None = None

    @property
    def sentence(self) -> str:
        """The fault as a sentence with its place and, if there is one, the nearest valid name."""
        meant = f"; did you mean `{self.nearest}`?" if self.nearest else "."
        return f"Line {self.place.line}, column {self.place.column}: {self.message}{meant}"

    def to_json(self) -> dict[str, Any]:
        """Return the fault as a JSON object."""
        return {
            "line": self.place.line, "column": self.place.column, "message": self.message, "nearest": self.nearest,
        }  # fmt: skip


class CypherUnreadable(SearchError):
    """The text as a whole is no query of the small Cypher; `faults` has at least one entry."""

    def __init__(self, faults: Sequence[CypherFault]) -> None:
        self.faults = tuple(faults)
        super().__init__(in_sentences(faults))


def in_sentences(faults: Sequence[CypherFault]) -> str:
    """Return the first faults as sentences for people, and the number of the others."""
    shown = " ".join(fault.sentence for fault in faults[:MOST_SHOWN])
    more = len(faults) - MOST_SHOWN
    return f"{shown} And {more} more." if more > 0 else shown
