"""Faults of a bundle, each with its file and row; all are counted, and the first `MOST_LISTED` are listed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

DUPLICATE, BAD_VALUE = "duplicate_id", "bad_value"
"""Kinds of the faults of a node whose id another has, and of a cell that does not fit its column."""
EXAMPLES = 3
"""Faults that stand for all of their kind and column."""
SHOWN_EXAMPLE = 200
"""Most characters of an example in a line."""
_COLUMN = re.compile(r"(?:[Cc]olumn|[Ff]ield|[Pp]roperty) '([^']*)'|^'([^']*)' ")
"""How the messages of faults name the column or the field that they are about."""
MOST_LISTED = 1_000
"""Most faults, and most remarks, that are listed with their row; the rest are only counted by kind."""


@dataclass(frozen=True, slots=True)
class RowFault:
    """One fault of a bundle, or a remark about it.

    `row` is the line on which the row begins; the header is line 1. In Parquet, which has no lines, it is the number of
    the row, counted from 1. It is 0 if the fault concerns the file as a whole. `kind` is a short identifier for
    programs, `message` a sentence for people.
    """

    file: str
    row: int
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.row}: {self.message}" if self.row else f"{self.file}: {self.message}"

    @property
    def column(self) -> str:
        """The column or the field that the fault is about; empty if it is about none, or about the whole row."""
        found = _COLUMN.search(self.message)
        return (found[1] or found[2] or "") if found else ""


@dataclass(slots=True)
class FaultGroup:
    """Faults of one kind in one column of a file: the number of rows, and the first of them as examples."""

    kind: str
    column: str
    file: str
    rows: int = 0
    examples: list[RowFault] = field(default_factory=list)

    def add(self, fault: RowFault) -> None:
        """Count a fault."""
        self.rows += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(fault)

    def __str__(self) -> str:
        """Return one line: the fault itself, or the number of rows with the examples."""
        first, *more = self.examples
        if self.rows == 1:
            return str(first)
        others = [one for one in more if one.message != first.message]
        places = [f"{one.file}:{one.row}" for one in more if one.message == first.message]
        told = " · ".join(_cut(str(one)) for one in (first, *others))
        return f"{self.rows:,} rows: {told}" + (f" (also {', '.join(places)})" if places else "")

    @property
    def several(self) -> bool:
        """Whether it is more than its only fault."""
        return self.rows > 1

    def to_json(self) -> dict[str, Any]:
        """Return the group as a JSON object; `line` is what people read."""
        return {
            "kind": self.kind, "column": self.column, "file": self.file, "rows": self.rows,
            "examples": [asdict(one) for one in self.examples], "line": str(self),
        }  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_EXAMPLE else f"{text[:SHOWN_EXAMPLE]}…"


class Groups:
    """Faults by kind, column and file, in the order of the first of each; beyond `MOST_LISTED` by kind alone."""

    def __init__(self, faults: Iterable[RowFault] = ()) -> None:
        self._groups: dict[tuple[str, str, str], FaultGroup] = {}
        for fault in faults:
            self.add(fault)

    def add(self, fault: RowFault) -> None:
        """Count a fault in its group."""
        key = (fault.kind, fault.column, fault.file)
        if key not in self._groups and len(self._groups) >= MOST_LISTED:
            key = (fault.kind, "", "")
        self._groups.setdefault(key, FaultGroup(*key)).add(fault)

    def forget(self, kind: str) -> None:
        """Forget the faults of a kind."""
        self._groups = {key: group for key, group in self._groups.items() if key[0] != kind}

    def listed(self) -> list[FaultGroup]:
        """Return the groups."""
        return list(self._groups.values())


class BundleError(Exception):
    """The bundle as a whole cannot be loaded; the text is a sentence for people, `faults` are the faults behind it."""

    def __init__(self, message: str, faults: Sequence[RowFault] = ()) -> None:
        self.faults = tuple(faults)
        super().__init__(message)


class FaultLog:
    """Collects the bad rows of a bundle, and remarks about rows that are loaded anyway."""

    def __init__(self, kept: int = MOST_LISTED) -> None:
        self._kept = kept
        self.faults: list[RowFault] = []
        self.remarks: list[RowFault] = []
        self.bad_rows = 0
        self.kinds: Counter[str] = Counter()
        self.remark_kinds: Counter[str] = Counter()
        self.groups = Groups()
        self.remark_groups = Groups()

    def add(self, fault: RowFault) -> None:
        """Record a row that cannot be loaded; called once for each bad row."""
        self.bad_rows += 1
        self.kinds[fault.kind] += 1
        self.groups.add(fault)
        if len(self.faults) < self._kept:
            self.faults.append(fault)

    def remark(self, remark: RowFault, times: int = 1) -> None:
        """Record a remark about rows that are loaded anyway; `times` is the number of rows it concerns."""
        self.remark_kinds[remark.kind] += times
        self.remark_groups.add(remark)
        if len(self.remarks) < self._kept:
            self.remarks.append(remark)

    def write(self, path: Path) -> None:
        """Write the report as JSON lines: listed bad rows and remarks, groups of equal faults, then all totals."""
        lines: list[dict[str, Any]] = [{"level": "bad", **asdict(fault)} for fault in self.faults]
        lines += [{"level": "remark", **asdict(remark)} for remark in self.remarks]
        lines += [{"level": "group", **group.to_json()} for group in self.groups.listed() if group.several]
        lines.append(
            {
                "level": "total",
                "bad_rows": self.bad_rows,
                "kinds": dict(self.kinds),
                "not_listed": self.bad_rows - len(self.faults),
                "remarks": dict(self.remark_kinds),
            }
        )
        path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
