"""Looking at files from outside: what is too large hits a bound of the process that looks, and is told."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from search.domain.errors import InvalidRequest
from search.services.imports.look import LookRefused, look
from search.services.imports.looking import MEMORY

LINE = b"0" * (1 << 20)
LINES = 40
"""Megabytes of one line: more than a line may have."""


def problem_of(folder: Path) -> str:
    """Return what is said of a folder's files."""
    try:
        seen = look("preview", folder, mapping=None, called="things")
    except LookRefused as refused:
        return str(refused)
    return " ".join([seen["problem"], *(fault["message"] for fault in seen["faults"])])


def gz(folder: Path) -> None:
    with gzip.open(folder / "things.csv.gz", "wb", 6) as file:
        file.write(b"id,name\n1," + LINE * LINES)


def zst(folder: Path) -> None:
    (folder / "things.csv.zst").write_bytes(zstandard.compress(b"id,name\n1," + LINE * LINES))


def json_line(folder: Path) -> None:
    (folder / "things.jsonl").write_bytes(b'{"id": 1, "x": "' + LINE * LINES + b'"}\n')


def csv_cell(folder: Path) -> None:
    (folder / "things.csv").write_bytes(b'id,name\n1,"' + LINE * LINES + b'"\n')


@pytest.mark.parametrize("write", [gz, zst, json_line, csv_cell])
def test_a_line_that_is_too_long_is_told_in_every_format(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    assert "This line is longer than 32 MB" in problem_of(tmp_path)


def parquet_list(folder: Path) -> None:
    items = MEMORY // 8 + 1
    zeros = np.zeros(items, np.int8)
    lists = pa.ListArray.from_arrays(pa.array([0, items], pa.int32()), pa.array(zeros))
    pq.write_table(pa.table({"id": [1], "x": lists.cast(pa.list_(pa.int64()))}), folder / "things.parquet")


def json_objects(folder: Path) -> None:
    (folder / "things.jsonl").write_bytes(b'{"id": 1, "x": [' + b"{}," * 10_000_000 + b"1]}\n")


@pytest.mark.parametrize("write", [parquet_list, json_objects])
def test_what_takes_too_much_memory_is_told_with_its_bound(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    assert "takes more than 1,024 MB of memory" in problem_of(tmp_path)


@pytest.mark.parametrize("stored_once", [True, False])
def test_texts_that_a_small_file_repeats_are_looked_at_within_the_bound(stored_once: bool, tmp_path: Path) -> None:
    # 2 GB of texts in a file of less than 200 kB.
    table = pa.table({"id": range(2_000), "x": [LINE.decode()] * 2_000})
    pq.write_table(
        table, tmp_path / "things.parquet", use_dictionary=stored_once, compression="zstd",
        dictionary_pagesize_limit=4 << 20, write_batch_size=1,
    )  # fmt: skip
    seen = look("preview", tmp_path, mapping=None, called="things")
    assert (seen["nodes"], seen["problem"]) == (2_000, "")


def test_many_long_rows_are_looked_at_within_the_bound(tmp_path: Path) -> None:
    with (tmp_path / "things.jsonl").open("wb") as file:
        for at in range(80):
            file.write(b'{"id": "%d", "x": "' % at + LINE * 16 + b'"}\n')
    seen = look("preview", tmp_path, mapping=None, called="things")
    assert (seen["nodes"], seen["problem"]) == (80, "")


def test_an_archive_in_place_of_a_table_is_told(tmp_path: Path) -> None:
    (tmp_path / "things.csv").write_bytes(b"PK\3\4\0\0\0\0" * 100)
    assert "is no text: it contains bytes of the value 0" in problem_of(tmp_path)


def test_a_long_cell_in_the_first_rows_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "things.csv").write_bytes(b"id,name\n1," + b"word " * 40_000 + b"\n2,b\n")
    assert problem_of(tmp_path) == ""


def test_files_that_change_are_looked_at_again(tmp_path: Path) -> None:
    (tmp_path / "things.csv").write_text("id,name\n1,a\n")
    first = look("preview", tmp_path, mapping=None, called="things")
    (tmp_path / "things.csv").write_text("id,name\n1,a\n2,b\n")
    second = look("preview", tmp_path, mapping=None, called="things")
    assert (first["nodes"], second["nodes"]) == (1, 2)


def test_a_faulty_mapping_is_told_with_its_places(tmp_path: Path) -> None:
    (tmp_path / "things.csv").write_text("id,name\n1,a\n")
    with pytest.raises(InvalidRequest) as caught:
        look("preview", tmp_path, mapping={"name": "a b", "files": []}, called="")
    assert [fault.pointer for fault in caught.value.faults] == ["/name", "/files"]
