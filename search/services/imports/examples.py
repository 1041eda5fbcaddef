"""Examples of what is read in a column: its cells beside the values, or the names of the rows, that they become."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from search.ingest.fields import scalar
from search.ingest.mapping.cells import shown_value
from search.ingest.mapping.doubts import chosen
from search.ingest.mapping.guess_lists import parts_of
from search.ingest.mapping.mapping import ColumnMapping, FileMapping, SourceMapping
from search.ingest.mapping.profile import shape_of
from search.ingest.mapping.sniff import Sniffed
from search.ingest.mapping.uses import FIELD_USES

READ_SHOWN = 3
MOST_LOOKED_AT = 200
"""Values of a column among which examples of what is read are looked for."""
LONGEST_CELL = 200
"""Characters that are shown of a cell."""


class NamesOfRows:
    """Finds the name of the row to which a reference leads, among the first rows of the files."""

    def __init__(self, files: Sequence[Sniffed], mapping: SourceMapping | None) -> None:
        self._files = files
        self._mapping = mapping

    def of(self, cell: str, column: ColumnMapping) -> str:
        """Return the name of the row that a cell means; the cell itself if it leads nowhere."""
        return self._names.get((column.of, column.by), {}).get(cell if column.by else column.prefix + cell, cell)

    @cached_property
    def _names(self) -> dict[tuple[str, str], dict[str, str]]:
        """Path and column of a key (empty: any id) → values of the key → names."""
        by_id: dict[str, str] = {}
        found = {("", ""): by_id}
        for one in self._files:
            file = self._mapping.file(one.file.path) if self._mapping else None
            if file is None or file.role != "nodes":
                continue
            ids, named = file.used("id"), file.used("name") or file.used("id")
            for row in one.sample:
                name = " ".join(str(row.get(column) or "") for column in named).strip()
                if ids:
                    by_id[file.columns[ids[0]].prefix + str(row.get(ids[0]))] = name
                for column in one.columns:
                    found.setdefault((file.path, column), {})[str(row.get(column))] = name
        return found


def read_examples(sniffed: Sniffed, name: str, file: FileMapping | None, names: NamesOfRows) -> list[list[str]]:
    """Return cells of a column with what is read of them, where that is another text: `27.808` and `27,808`."""
    column = file.columns.get(name) if file else None
    if column is None or column.use in ("ignore", "type", "relation", "url"):
        return []
    pairs: dict[object, list[str]] = {}
    for value in sniffed.values(name)[:MOST_LOOKED_AT]:
        cell = cell_text(value)
        if cell in column.missing:
            read = "no value"
        elif column.use in ("edge", "source", "target"):
            parts = parts_of(value, column.separator)
            read = " · ".join(names.of(str(part), column) for part in parts)
        elif column.use in FIELD_USES:
            read = shown_value(value, column)
        else:
            read = cell
        if read != cell:
            # Of cells that are written alike one is enough.
            pairs.setdefault(read == "no value" or shape_of(cell), [cell, read])
    return list(pairs.values())[:READ_SHOWN]


def choices_of(sniffed: Sniffed, name: str) -> list[dict[str, Any]]:
    """Return the ways in which the values of a column can be read, each with the mapping that reads them so."""
    return [
        {"example": choice.example, "read": choice.read, "mapping": chosen(sniffed, name, at)}
        for at, choice in enumerate(sniffed.decision(name).choices)
    ]


def cell_text(value: Any) -> str:
    """Return a cell as text, shortened."""
    found = scalar(value)
    text = "" if value is None else str(value) if found is None else str(found)
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"
