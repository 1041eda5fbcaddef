"""What is wrong with a bundle: each fault with its file and row, all of them counted, the first thousand kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

KEPT = 1_000
"""So many faults, and so many remarks, are kept with their row; the rest is counted by kind."""


@dataclass(frozen=True, slots=True)
class RowFault:
    """One row that cannot be loaded, or, in the manifest, one entry.

    `row` is the line where the row begins, the header being line 1; in Parquet, which has no lines, the number of the
    row, from 1. It is 0 where the file as a whole is meant. `kind` is a short name for programs.
    """

    file: str
    row: int
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.row}: {self.message}" if self.row else f"{self.file}: {self.message}"


class BundleError(Exception):
    """The bundle cannot be loaded at all; the text is a sentence for people, `faults` are the rows that led to it."""

    def __init__(self, message: str, faults: Sequence[RowFault] = ()) -> None:
        self.faults = tuple(faults)
        super().__init__(message)


class FaultLog:
    """Collects the bad rows of a bundle, and remarks about rows that are loaded all the same."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self.faults: list[RowFault] = []
        self.remarks: list[RowFault] = []
        self.bad_rows = 0
        self.kinds: Counter[str] = Counter()
        self.remark_kinds: Counter[str] = Counter()

    def add(self, fault: RowFault) -> None:
        """Note a row that cannot be loaded. Called once a bad row."""
        self.bad_rows += 1
        self.kinds[fault.kind] += 1
        if len(self.faults) < self._kept:
            self.faults.append(fault)

    def remark(self, remark: RowFault, times: int = 1) -> None:
        """Note something odd that hinders nothing."""
        self.remark_kinds[remark.kind] += times
        if len(self.remarks) < self._kept:
            self.remarks.append(remark)

    def write(self, path: Path) -> None:
        """Write the report: one JSON object a line, bad rows first, then remarks, then what was only counted."""
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
