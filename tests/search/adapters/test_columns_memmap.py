"""Conditions and orders on the columns of fields: as they are checked on the nodes themselves."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.adapters import columns_memmap
from search.adapters.columns_memmap import MemmapColumns
from search.domain.filtering import meets
from search.domain.graph import Field, FieldKind, FieldValue, Node, NodeType, Schema
from search.domain.ordering import order_value, rank
from search.domain.plan import Filter

TEXTS = ("", "Ada", "ada", "Émile", "émILE Zola", "Umeå, Sweden", "sweden", "2001-02-03", "2001-12-03", "~Sweden")
NUMBERS = (-1, 0, 2, 2.5, 2.0, 10, 0.1, 2**53 - 1)
scalars = st.sampled_from(TEXTS) | st.sampled_from(NUMBERS)
values = scalars | st.lists(scalars, max_size=3)


def columns(several: list[FieldValue | None], folder: Path, kind: FieldKind = "keyword") -> MemmapColumns:
    """The columns of one node for each value; None for a node without the field."""
    schema = Schema((NodeType("film", len(several), (Field("of", kind),)),), (), ())
    columns_memmap.build(folder, schema, nodes_of(several))
    return MemmapColumns(folder, schema)


def nodes_of(several: list[FieldValue | None]) -> list[Node]:
    return [
        Node(key, f"n{key}", "film", "", fields={} if value is None else {"of": value})
        for key, value in enumerate(several)
    ]


@st.composite
def conditions(draw: st.DrawFn) -> Filter:
    op = draw(st.sampled_from(("=", "!=", "<", "<=", ">", ">=", "between", "in", "not in", "exists", "missing",
                               "contains", "not contains")))  # fmt: skip
    one = st.sampled_from(TEXTS) if "contains" in op else st.sampled_from((*TEXTS, *NUMBERS, 2**60, -(10**400), 1e300))
    several = {"between": st.lists(one, min_size=2, max_size=2), "exists": st.none(), "missing": st.none()}
    several |= {"in": st.lists(one, max_size=3), "not in": st.lists(one, max_size=3)}
    return Filter("T", "of", op, draw(several.get(op, one)))


@given(
    several=st.lists(values | st.none(), max_size=8),
    condition=conditions(),
    kind=st.sampled_from(("keyword", "date", "text")),
)
@settings(max_examples=400, suppress_health_check=list(HealthCheck), deadline=None)
def test_columns_meet_a_condition_exactly_where_the_nodes_do(
    several: list[FieldValue | None], condition: Filter, kind: FieldKind
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = columns(several, Path(folder), kind)
        assert found.whole("film", "of")
        # Any order, and keys that come twice.
        keys = np.array([*reversed(range(len(several))), *range(len(several))], dtype=np.int32)
        nodes = nodes_of(several)
        assert found.meeting("film", keys, condition).tolist() == [meets(nodes[key], [condition]) for key in keys]


@given(several=st.lists(values | st.none(), max_size=8), last=st.booleans())
@settings(max_examples=200, suppress_health_check=list(HealthCheck), deadline=None)
def test_columns_know_the_value_that_an_order_compares(several: list[FieldValue | None], last: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = columns(several, Path(folder))
        firsts = found.firsts("film", "of", np.arange(len(several), dtype=np.int32), last=last)
        right = [order_value(value, "desc" if last else "asc") for value in several]
        known = [at for at, value in enumerate(right) if value is not None]
        assert np.isnan(firsts).tolist() == [value is None for value in right]
        assert found.read(firsts[known]) == [right[at] for at in known]
        # Encoded values are in the order of the values.
        ranks = [rank(right[at]) for at in known]  # type: ignore[arg-type]
        assert [sorted(ranks).index(one) for one in ranks] == [
            sorted(firsts[known].tolist(), key=lambda one: (one.real, one.imag)).index(one)
            for one in firsts[known].tolist()
        ]


@pytest.mark.parametrize("lost", ["a" * 81, 2**53, -(2**53), 1e17])
def test_a_field_with_a_value_that_is_not_held_is_not_whole(tmp_path: Path, lost: FieldValue) -> None:
    found = columns(["short", 3, [4, lost]], tmp_path, "text")
    assert not found.whole("film", "of")
    # A field that no node has is.
    assert found.whole("film", "none")


def test_no_field_is_whole_where_files_do_not_say_so(tmp_path: Path) -> None:
    found = columns([3], tmp_path)
    (tmp_path / "places.npy").unlink()
    fresh = MemmapColumns(tmp_path, found.schema)
    assert not fresh.whole("film", "of")
    assert not fresh.whole("film", "none")
    assert fresh.numbers("film", "of")[1].tolist() == [3.0]


def test_only_keywords_and_dates_may_have_any_number_of_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_memmap, "MOST_TEXTS", 2)
    kinds: tuple[FieldKind, ...] = ("text", "keyword", "date")
    held = {}
    for kind in kinds:
        (tmp_path / kind).mkdir()
        held[kind] = columns(["a", "b", "a", "c"], tmp_path / kind, kind).whole("film", "of")
    assert held == {"text": False, "keyword": True, "date": True}
