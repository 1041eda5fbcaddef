"""Sums and notes below a table are none of its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.ingest.detect import detect
from search.ingest.faults import FaultLog
from search.ingest.mapping.source import mapped_source
from search.ingest.validate import check

TABLE = "name,place,guests\n" + "".join(f"Evening {number},Hall,{number}\n" for number in range(1, 9))


def names(folder: Path, text: str) -> tuple[int, list[str]]:
    (folder / "events.csv").write_text(text)
    detected = detect(folder)
    assert detected.mapping is not None
    checked = check(mapped_source(folder, detected.mapping), FaultLog())
    return detected.mapping.files[0].below, [node.name for _, node in checked.good_nodes()]


@pytest.mark.parametrize(
    ("end", "below"),
    [
        ("Total,,36\n", 1), ("Summe:,,36\n", 1), (",,36\n", 1), ("Source: the town's office,,\n", 1),
        ("Total,,36\nSource: the town's office,,\n", 2),
        # A row that lacks a cell is one, and so is a row that happens to hold a sum.
        ("Late evening,,9\n", 0), ("Gala,Hall,36\n", 0), ("Gala,,\n", 0),
    ],
)  # fmt: skip
def test_rows_below_the_table_are_not_read(end: str, below: int, tmp_path: Path) -> None:
    found, read = names(tmp_path, TABLE + end)
    assert found == below
    rows = TABLE.count("\n") - 1 + end.count("\n") - below
    assert len(read) == rows


def test_the_note_says_what_is_not_read(tmp_path: Path) -> None:
    names(tmp_path, TABLE + "Total,,36\n")
    notes = [str(fault) for fault in detect(tmp_path).told]
    assert any("The last row is not read, as a sum or a note below the table: 'Total 36'." in note for note in notes)
