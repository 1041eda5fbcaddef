"""The values of edges in mapped files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from search.adapters import edge_values_memmap
from search.domain.graph import Field, NodeType, Relation, Schema
from search.domain.plan import Filter

SCHEMA = Schema(
    (NodeType("node", 4),),
    (
        Relation("SOLD_AT", fields=(Field("price", "number"), Field("note", "keyword"), Field("long", "text"))),
        Relation("LIKES"),
        Relation("PAID", fields=(Field("cents", "number"),)),
    ),
    (),
)
ROWS = [
    (0, 2, 1, {"price": [9, 15], "note": "Émile"}), (0, 0, 3, {"price": 2.5, "note": "last", "long": "a text"}),
    (0, 0, 1, {"note": "LAST"}), (2, 0, 1, {"cents": 2**60}),
]  # fmt: skip
SOURCE, TARGET = np.array([0, 0, 2, 1], np.int32), np.array([1, 3, 1, 1], np.int32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    edge_values_memmap.build(tmp_path, SCHEMA, 4, ROWS)
    return tmp_path


@pytest.mark.parametrize(
    ("field", "op", "value", "met"),
    [
        ("price", ">", 10, [False, False, True, False]), ("price", "!=", 2.5, [True, False, True, True]),
        ("price", "exists", None, [False, True, True, False]), ("price", "missing", None, [True, False, False, True]),
        ("note", "=", "Last", [True, True, False, False]), ("note", "in", ["émile", 3], [False, False, True, False]),
        ("note", "<", "b", [True, False, False, False]), ("price", "=", "9", [False, False, False, False]),
    ],
)  # fmt: skip
def test_conditions_are_met_as_those_of_nodes_are(
    folder: Path, field: str, op: str, value: object, met: list[bool]
) -> None:
    values = edge_values_memmap.read(folder, 4)[0, field]
    condition = Filter("", field, op, value)  # type: ignore[arg-type]
    assert values.meeting(SOURCE, TARGET, condition).tolist() == met


def test_values_are_read_with_the_edge_that_has_them(folder: Path) -> None:
    held = edge_values_memmap.read(folder, 4)
    owner, values = held[0, "price"].of(SOURCE, TARGET)
    assert list(zip(owner.tolist(), values, strict=True)) == [(1, 2.5), (2, 9), (2, 15)]
    assert [held[0, "note"].has(text) for text in ("LAST", "émile", "lost", "2.5")] == [True, True, False, False]
    assert not held[0, "price"].has("9")


def test_what_the_files_cannot_hold_is_left_out(folder: Path, tmp_path: Path) -> None:
    """Longer texts, and whole numbers that a float would change, are read from the database."""
    assert set(edge_values_memmap.read(folder, 4)) == {(0, "price"), (0, "note")}
    assert edge_values_memmap.read(tmp_path / "made before", 4) == {}
