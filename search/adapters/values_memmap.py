"""Values of fields as sorted hashes in memory-mapped files, to find conditions in a question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from search.domain.graph import Schema
from search.interfaces import ValueMention


@dataclass(frozen=True)
class MemmapValues:
    """The files of a release, opened on first use; threads share them, they are read-only."""

    directory: Path
    schema: Schema

    def find(self, text: str) -> list[ValueMention]:
        """Return every stretch of whole words that is a value of a field, longest first."""
        return []
