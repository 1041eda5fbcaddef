"""A quotation mark that is not closed costs its own row, names its line, and swallows no other row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search.ingest import csv_records
from search.ingest.readers import BundleFile, rows
from search.ingest.text_formats import BadRow, Dialect


def read(folder: Path, text: str, **dialect: Any) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    """Return the rows of a CSV file, and line and message of the bad ones."""
    (folder / "a.csv").write_bytes(text.encode())
    found = list(rows(BundleFile(folder / "a.csv", "csv", dialect=Dialect(**dialect)), lambda done: None))
    bad = [(number, row.message) for number, row in found if isinstance(row, BadRow)]
    return [row for _, row in found if isinstance(row, dict)], bad


def test_a_mark_that_is_never_closed_costs_one_row_and_names_its_line(tmp_path: Path) -> None:
    lines = [f"{at},{chr(34) if at == 500 else ''}Lamp {at},{at}" for at in range(2_000)]
    good, bad = read(tmp_path, "\n".join(["id,name,n", *lines]) + "\n")
    assert [row["id"] for row in good] == [str(at) for at in range(2_000) if at != 500]
    assert bad == [(
        502, "The quotation mark that opens a cell on line 502 is not closed as it should be: the file ends inside the "
        "cell. The lines from 503 on are read as rows.",
    )]  # fmt: skip


def test_a_mark_that_a_later_row_seems_to_close_swallows_no_row_between(tmp_path: Path) -> None:
    text = 'id,name,n\n1,"Lamp,1\n2,Rope,2\n3,Bag,3\n4,Cup 19",4\n5,"a, b",5\n6,"",6\n'
    good, [(number, message)] = read(tmp_path, text)
    assert ([row["id"] for row in good], number) == (["2", "3", "4", "5", "6"], 2)
    assert "3 lines that look like rows" in message


def test_each_of_several_open_marks_is_told_and_the_rows_between_are_read(tmp_path: Path) -> None:
    text = 'id,name,n\n1,"a,1\n2,b,2\n3,"c,3\n4,d,4\n5,"e, f",5\n'
    good, bad = read(tmp_path, text)
    assert [row["id"] for row in good] == ["2", "4", "5"]
    assert [number for number, _ in bad] == [2, 4]


def test_cells_of_several_lines_are_read_as_they_are(tmp_path: Path) -> None:
    address = "Main Street 1\nOslo, Norway\nEurope"
    text = f'id,name,n\n1,"{address}",1\n2,"say ""yes"",\nor no",2\n'
    good, bad = read(tmp_path, text)
    assert [row["name"] for row in good] == [address, 'say "yes",\nor no']
    assert bad == []


def test_a_row_of_several_lines_that_is_too_short_is_one_bad_row(tmp_path: Path) -> None:
    good, bad = read(tmp_path, 'id,name,n\n1,"a\nb"\n2,c,3\n')
    assert ([row["id"] for row in good], bad) == (
        ["2"], [(2, "Expected 3 columns as in the header, found 2.")]
    )  # fmt: skip


def test_the_end_of_a_cell_is_searched_for_a_limited_number_of_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_records, "LONGEST_RECORD", 200)
    text = 'id,name,n\n1,"a,1\n' + "".join(f"{at},row,{at}\n" for at in range(2, 60))
    good, [(number, message)] = read(tmp_path, text)
    assert (len(good), number) == (58, 2)
    assert "goes on for more than" in message


def test_lines_above_the_table_are_counted_in_every_number(tmp_path: Path) -> None:
    good, bad = read(tmp_path, 'A title, "of\n\nid,name,n\n1,a,1\n2,"b,2\n3,c,3\n', skip=2)
    assert [row["id"] for row in good] == ["1", "3"]
    assert bad[0][0] == 5
    assert "on line 5 is not closed" in bad[0][1]
    assert "from 6 on" in bad[0][1]


def test_blank_rows_above_the_header_and_below_it_are_no_rows(tmp_path: Path) -> None:
    assert read(tmp_path, "\n,,\nid,name,n\n,,\n1,a,1\n,,\n") == ([{"id": "1", "name": "a", "n": "1"}], [])
