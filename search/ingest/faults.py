"""Faults of a bundle, each with its file and row; all are counted, and the first `MOST_LISTED` are listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

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

    def add(self, fault: RowFault) -> None:
        """Record a row that cannot be loaded; called once for each bad row."""
        self.bad_rows += 1
        self.kinds[fault.kind] += 1
        if len(self.faults) < self._kept:
            self.faults.append(fault)

    def remark(self, remark: RowFault, times: int = 1) -> None:
        """Record a remark about rows that are loaded anyway; `times` is the number of rows it concerns."""
        self.remark_kinds[remark.kind] += times
        if len(self.remarks) < self._kept:
            self.remarks.append(remark)

    def write(self, path: Path) -> None:
        """Write the report as JSON lines: the listed bad rows, the listed remarks, then one line with all totals."""
        lines = [{"level": "bad", **asdict(fault)} for fault in self.faults]
        lines += [{"level": "remark", **asdict(remark)} for remark in self.remarks]
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
