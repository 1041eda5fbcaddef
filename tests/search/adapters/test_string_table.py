"""Strings in memory-mapped files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.adapters.string_table import StringTable, write_strings


def table(folder: Path, *strings: str) -> StringTable:
    write_strings(folder / "strings", strings)
    return StringTable.open(folder / "strings")


def test_strings_are_read_as_they_were_written(tmp_path: Path) -> None:
    strings = ["", "ä→🎬", "two\nlines", "", "x" * 5000]
    read = table(tmp_path, *strings)
    assert [read[at] for at in range(len(read))] == strings


def test_a_place_outside_the_table_is_an_error(tmp_path: Path) -> None:
    read = table(tmp_path, "a")
    for at in (-1, 1):
        with pytest.raises(IndexError, match="0 … 0"):
            read[at]


def test_an_empty_table_can_be_opened(tmp_path: Path) -> None:
    read = table(tmp_path)
    assert len(read) == 0
    assert read.find("a") is None


@given(known=st.sets(st.text()), asked=st.text())
def test_a_string_is_found_exactly_where_it_stands(
    tmp_path_factory: pytest.TempPathFactory, known: set[str], asked: str
) -> None:
    ordered = sorted(known, key=str.encode)
    read = table(tmp_path_factory.mktemp("strings"), *ordered)
    assert [read.find(string) for string in ordered] == list(range(len(ordered)))
    assert read.find(asked) == (ordered.index(asked) if asked in known else None)
