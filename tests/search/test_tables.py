"""CSV for people: no cell is a formula, numbers are numbers, and every text can be read back."""

from __future__ import annotations

import ast
import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search.tables import csv_lines, harmless, unescaped

PROJECT = Path(__file__).resolve().parents[2]
WRITERS = {"csv.writer", "csv.DictWriter", "writer", "DictWriter"}


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1+1", "@A1", "\t=1", "\r=1", "\n=1", "＝1", "'=1"])
def test_what_begins_a_formula_is_text(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "'quoted", "Ada", '{"a": 1}'])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_numbers_stay_numbers_and_other_things_are_harmless_text() -> None:
    rows = [["=head", "n"], [-1.5, -2], [None, ["=1"]], ["-1", True]]
    assert "".join(csv_lines(rows)) == "'=head,n\r\n-1.5,-2\r\n,['=1']\r\n'-1,True\r\n"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), min_size=1))
@example(["'=1", "''+2", "=1", "'", "-"])
def test_every_text_can_be_read_back(texts: list[str]) -> None:
    written = "".join(csv_lines([texts, texts]))
    read = list(csv.reader(io.StringIO(written, newline="")))
    assert [[unescaped(cell) for cell in row] for row in read] == [texts, texts]


def test_every_csv_of_the_site_is_written_in_one_place() -> None:
    """All exporters pass their rows to `csv_lines`, so none of them can forget to make its cells harmless."""
    found = [
        f"{path.relative_to(PROJECT)}:{node.lineno}"
        for package in ("grasp_site", "search", "training")
        for path in (PROJECT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in WRITERS
    ]
    assert [where.partition(":")[0] for where in found] == ["search/tables.py"]
