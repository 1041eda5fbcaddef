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


@given(known=st.lists(st.text(), min_size=1), places=st.lists(st.integers(0, 20)))
def test_several_strings_are_the_same_as_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory, known: list[str], places: list[int]
) -> None:
    read = table(tmp_path_factory.mktemp("strings"), *known)
    inside = [at % len(known) for at in places]
    assert read.many(inside) == [known[at] for at in inside]


def test_several_positions_of_which_one_is_outside_are_refused(tmp_path: Path) -> None:
    read = table(tmp_path, "a", "b")
    for at in (-1, 2):
        with pytest.raises(IndexError, match="0 … 1"):
            read.many([0, at])
