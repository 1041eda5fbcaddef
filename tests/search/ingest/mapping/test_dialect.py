"""The delimiter, the lines above a table and its header are found by what all of the first rows have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search.ingest.mapping.sniff import Sniffed, sniff

LAMPS = [{"id": "k1", "name": "Lamp", "n": "3"}, {"id": "k2", "name": "Rope", "n": "4"}]


def sniffed(folder: Path, text: str, name: str = "a.csv") -> Sniffed:
    (folder / name).write_bytes(text.encode())
    return sniff(folder, name)


@pytest.mark.parametrize(
    ("text", "delimiter", "columns"),
    [
        ("id;name;note\n1;Red, big, old;x\n2;Blue, small, new;y\n", ";", ("id", "name", "note")),
        ("id;price\n" + "".join(f"{at};{at},5{at % 10}\n" for at in range(300)), ";", ("id", "price")),
        ("id|name|n\n1|a, b|2\n", "|", ("id", "name", "n")),
        ("id,tags\n1,a|b\n2,b|c\n3,c|d\n", ",", ("id", "tags")),
        ('id,name,tags\n1,a,x;y\n2,b,"u, v;w"\n3,c,z;z\n4,d\n', ",", ("id", "name", "tags")),
        ('"id";"name"\n"1";"a, b"\n"2";"c, d"\n', ";", ("id", "name")),
        ("sep=;\nid;name\n1;a, b\n", ";", ("id", "name")),
    ],
)
def test_the_delimiter_is_the_one_that_splits_all_rows_alike(
    text: str, delimiter: str, columns: tuple[str, ...], tmp_path: Path
) -> None:
    found = sniffed(tmp_path, text)
    assert (found.file.delimiter, found.columns, found.bad_rows[1:]) == (delimiter, columns, ())


@pytest.mark.parametrize(
    ("above", "skip"),
    [
        ("", 0), ("\n\n", 0), (",,\n", 0), ("Report of 2024,,\n,,\n", 2), ("Report of 2024\n\n", 2),
        ('"Lamps, and ropes"\nSource: shop\n\n', 3), ("# made by a program\n", 1),
    ],
)  # fmt: skip
def test_titles_and_blank_lines_above_the_header_are_no_rows(above: str, skip: int, tmp_path: Path) -> None:
    found = sniffed(tmp_path, f"{above}id,name,n\nk1,Lamp,3\nk2,Rope,4\n")
    assert (found.columns, list(found.sample), found.file.skip) == (("id", "name", "n"), LAMPS, skip)
    assert bool(found.notes) == bool(skip)


def test_a_title_with_a_delimiter_of_another_kind_is_a_title(tmp_path: Path) -> None:
    found = sniffed(tmp_path, "Report, 2024\nid;name;price\n1;a;1,5\n2;b;2,5\n3;c;2,6\n")
    assert (found.file.delimiter, found.file.skip, found.columns) == (";", 1, ("id", "name", "price"))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("k0;Lamp;0,50\nk1;Rope;1,50\n", ("column 1", "column 2", "column 3")),
        ("k0,1.234.567,a\nk1,2.345.678,b\n", ("column 1", "column 2", "column 3")),
        ('"May 31, 2024",a\n"June 1, 2024",b\n', ("column 1", "column 2")),
        ("country,2019,2020\nA,1.5,2\nB,3,4\n", ("country", "2019", "2020")),
        (",name\n0,a\n1,b\n", ("column 1", "name")),
        ("name\nAnn\nBob\n", ("name",)),
        ("May,Roe\n1,2\n3,4\n", ("May", "Roe")),
    ],
)
def test_the_first_row_is_a_header_unless_it_holds_values(text: str, columns: tuple[str, ...], tmp_path: Path) -> None:
    assert sniffed(tmp_path, text).columns == columns


def test_rows_that_two_delimiters_split_as_evenly_are_told(tmp_path: Path) -> None:
    [note] = sniffed(tmp_path, "k0;Lamp;0,50;0,60\nk1;Rope;1,50;1,60\n").notes
    assert note == "Its rows are split at ';'; ',' would split them as evenly."


def test_in_tsv_a_mark_that_opens_no_cell_swallows_no_row(tmp_path: Path) -> None:
    rows = ["id\tname\tn", '1\t"Lamp\t1', "2\tRope\t2", '3\tBag 9"\t3', '4\t"two\nlines"\t4']
    found: list[dict[str, Any]] = list(sniffed(tmp_path, "\n".join(rows) + "\n", "a.tsv").sample)
    assert [row["id"] for row in found] == ["1", "2", "3", "4"]
    assert found[3]["name"] == "two\nlines"
