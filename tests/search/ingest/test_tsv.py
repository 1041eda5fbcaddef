"""Lines of tab-separated values, quoted or not."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.ingest.tsv import split_lines


def split(text: str) -> list[tuple[int, list[str]]]:
    return list(split_lines(io.StringIO(text, newline="\n")))


def test_cells_are_what_stands_between_tabs_and_empty_lines_are_passed_over() -> None:
    assert split("a\tb\n\n1\t\n") == [(1, ["a", "b"]), (3, ["1", ""])]


def test_a_mark_inside_a_cell_is_part_of_it() -> None:
    assert split('a\tb\nrow:"Weird_Al"_Yankovic:0\tsay "hi"\n')[1] == (2, ['row:"Weird_Al"_Yankovic:0', 'say "hi"'])


def test_a_cell_that_begins_with_a_mark_but_is_not_quoted_is_taken_as_it_stands() -> None:
    assert split('a\tb\n"Weird Al" Yankovic\tx\n"open\ty\n') == [
        (1, ["a", "b"]),
        (2, ['"Weird Al" Yankovic', "x"]),
        (3, ['"open', "y"]),
    ]


def test_a_quoted_cell_may_hold_tabs_marks_and_line_ends_and_counts_its_lines() -> None:
    assert split('a\tb\n"one\ttwo\nthree ""four"""\tx\n5\t6\n') == [
        (1, ["a", "b"]),
        (2, ['one\ttwo\nthree "four"', "x"]),
        (4, ["5", "6"]),
    ]


def test_a_mark_without_its_fellow_swallows_no_rows() -> None:
    text = 'a\tb\n"x\ty\n' + "1\t2\n" * 5 + 'p\tq"\n'
    assert [number for number, _ in split(text)] == list(range(1, 9))


def test_lines_may_end_with_a_carriage_return() -> None:
    assert split("a\tb\r\n1\t2\r\n") == [(1, ["a", "b"]), (2, ["1", "2"])]


def test_a_carriage_return_alone_ends_nothing() -> None:
    assert split("a\tb\n1\r2\t3\r\n") == [(1, ["a", "b"]), (2, ["1\r2", "3\r"])]


@pytest.mark.parametrize("dialect", ["excel-tab"])
@given(rows=st.lists(st.tuples(*[st.text(st.sampled_from('a"\t\n é'), min_size=1)] * 2), min_size=1, max_size=5))
def test_whatever_python_writes_is_read_back(dialect: str, rows: list[tuple[str, str]]) -> None:
    text = io.StringIO()
    csv.writer(text, dialect, lineterminator="\n").writerows([("first", "second"), *rows])
    assert [tuple(cells) for _, cells in split(text.getvalue())[1:]] == rows
