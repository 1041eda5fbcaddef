"""Parquet: what becomes of a column of every type, and that a file's dictionaries are not multiplied."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from search.ingest.csv_records import LONGEST_CELL
from search.ingest.faults import BundleError, FaultLog
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.parquet import MOST_ITEMS
from search.ingest.readers import BundleFile, columns_of, rows
from search.ingest.validate import CheckedBundle, check
from tests.search.ingest import bundles

LONDON = datetime.timezone(datetime.timedelta(hours=1))
NOON = datetime.datetime(2024, 5, 31, 11, 0, 0, 250_000, tzinfo=datetime.UTC)


def values(folder: Path, *arrays: pa.Array) -> list[list[Any]]:
    """Return the values of columns that are written and read."""
    path = folder / "things.parquet"
    names = [f"c{at}" for at in range(len(arrays))]
    pq.write_table(pa.Table.from_arrays(list(arrays), names=names), path)
    read = [row for _, row in rows(BundleFile(path, "parquet"), lambda done: None)]
    assert all(isinstance(row, dict) for row in read)
    return [[row.get(name) for row in read if isinstance(row, dict)] for name in names]


TYPES: dict[str, tuple[pa.Array, list[Any]]] = {
    "decimal": (pa.array([Decimal("1.51"), None, Decimal("-27.80")], pa.decimal128(10, 2)), [1.51, None, -27.8]),
    "whole decimal": (pa.array([Decimal(7), Decimal(-2)], pa.decimal128(10, 0)), [7, -2]),
    # 1234567890123456.79 has 18 digits and is no 64-bit float; a decimal of 30 digits is no whole number of JSON.
    "long decimals are texts": (
        pa.array([Decimal("1234567890123456.79"), Decimal("9" * 25)], pa.decimal256(40, 2)),
        ["1234567890123456.79", "9" * 25 + ".00"],
    ),
    "time of day": (
        pa.array([datetime.time(13, 5), datetime.time(1, 2, 3, 500_000), None], pa.time64("us")),
        ["13:05:00", "01:02:03.5", None],
    ),
    "seconds of a day": (pa.array([3723, 0], pa.time32("s")), ["01:02:03", "00:00:00"]),
    "duration": (pa.array([90_000, 1_500, None], pa.duration("ms")), [90, 1.5, None]),
    "texts stored as bytes": (pa.array(["Málaga".encode(), None], pa.binary()), ["Málaga", None]),
    "texts of fixed size": (pa.array([b"abcd", b"efgh"], pa.binary(4)), ["abcd", "efgh"]),
    "dictionary": (pa.array(["red", "blue", None, "red"]).dictionary_encode(), ["red", "blue", None, "red"]),
    "dictionary of numbers": (pa.array([1.5, None, 2.5]).dictionary_encode(), [1.5, None, 2.5]),
    "time with a zone": (
        pa.array([NOON, None], pa.timestamp("us", "Europe/London")), ["2024-05-31T12:00:00.25+01:00", None],
    ),
    "time in UTC": (pa.array([NOON.replace(microsecond=0)], pa.timestamp("s", "UTC")), ["2024-05-31T11:00:00+00:00"]),
    "time without a zone": (pa.array([1_717_158_896_123_456_789], pa.timestamp("ns")),
                            ["2024-05-31T12:34:56.123456789"]),
    "day": (pa.array([datetime.date(2024, 2, 29), None], pa.date32()), ["2024-02-29", None]),
    "unsigned 64-bit": (pa.array([2**64 - 1, 0, None], pa.uint64()), [2**64 - 1, 0, None]),
    "64-bit": (pa.array([2**53 + 1, -(2**63)], pa.int64()), [2**53 + 1, -(2**63)]),
    # The shortest spelling in the width of the column: 0.1 as a 32-bit float is 0.100000001490116… as a 64-bit one.
    "float16": (pa.array([0.1, None, 2.5], pa.float16()), [0.1, None, 2.5]),
    "float32": (pa.array([1.51, 19.99, None], pa.float32()), [1.51, 19.99, None]),
    "no number is no value": (pa.array([float("nan"), 1.0, None]), [None, 1.0, None]),
    "no number in 32 bits is no value": (pa.array([float("nan"), 1.5], pa.float32()), [None, 1.5]),
    "null": (pa.nulls(2), [None, None]),
    "boolean": (pa.array([True, None, False]), [True, None, False]),
    "list": (pa.array([["a", None, "b"], [], None], pa.list_(pa.string())), [["a", None, "b"], [], None]),
    "large list of decimals": (pa.array([[Decimal("1.50")], None], pa.large_list(pa.decimal128(5, 2))), [[1.5], None]),
    "list of fixed size": (pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2)), [[1, 2], None, [3, 4]]),
    "uuid": (
        pa.array([uuid.UUID(int=5).bytes, None], pa.uuid()), ["00000000-0000-0000-0000-000000000005", None],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_a_column_of_each_type_becomes_values_of_its_kind(name: str, tmp_path: Path) -> None:
    array, expected = TYPES[name]
    assert values(tmp_path, array) == [expected]


def test_members_of_a_struct_are_columns_of_their_own(tmp_path: Path) -> None:
    struct = pa.array([{"city": "Málaga", "at": {"lat": 36.7}}, None, {"city": None, "at": None}])
    path = tmp_path / "things.parquet"
    pq.write_table(pa.table({"address": struct}), path)
    assert [row for _, row in rows(BundleFile(path, "parquet"), lambda done: None)] == [
        {"address.city": "Málaga", "address.at.lat": 36.7},
        {"address.city": None, "address.at.lat": None},
        {"address.city": None, "address.at.lat": None},
    ]


def test_a_column_whose_name_holds_a_dot_is_no_member_of_another(tmp_path: Path) -> None:
    path = tmp_path / "things.parquet"
    pq.write_table(pa.table({"a.b": [b"\xff", b"x"], "a": [b"Ada", b"Bo"], "c": [[[1]], [[2]]]}), path)
    assert [row for _, row in rows(BundleFile(path, "parquet"), lambda done: None)] == [{"a": "Ada"}, {"a": "Bo"}]


def test_structs_inside_each_other_without_end_are_one_sentence(tmp_path: Path) -> None:
    type_: pa.DataType = pa.int8()
    for _ in range(60):
        type_ = pa.struct([("a", type_)])
    path = tmp_path / "things.parquet"
    pq.write_table(pa.table({"id": ["x"], "deep": pa.nulls(1, type_)}), path)
    assert [row for _, row in rows(BundleFile(path, "parquet"), lambda done: None)] == [{"id": "x"}]
    (sentence,) = columns_of(BundleFile(path, "parquet")).left_out.values()
    assert sentence.startswith(f"Column 'deep{'.a' * 32}' holds struct<a: struct<")


LEFT_OUT: dict[str, tuple[pa.Array, str]] = {
    "map": (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int8())), "map<string, int8>"),
    "list of lists": (pa.array([[[1], [2, 3]], None]), "list<element: list<element: int64>>"),
    "list of structs": (pa.array([[{"a": 1}], None]), "list<element: struct<a: int64>>"),
    "bytes": (pa.array([b"\x89PNG\r\n", None], pa.binary()), "bytes (binary) that are no text in UTF-8"),
    "bytes with zeros": (pa.array([b"ab\0d", b"efgh"], pa.binary(4)), "bytes (fixed_size_binary[4])"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_column_that_no_field_can_hold_is_said_once_and_makes_no_row_bad(name: str, tmp_path: Path) -> None:
    array, told = LEFT_OUT[name]
    found, log = bundle(tmp_path, {"odd": array, "year": pa.array([1999, 2000])})
    assert (len(found.key_of), log.bad_rows) == (2, 0)
    assert list(found.fields[0]) == ["year"]
    (remark,) = log.remarks
    assert remark.kind == "left_out_column"
    assert remark.message.startswith("Column 'odd' holds")
    assert told in remark.message


def bundle(folder: Path, columns: dict[str, pa.Array]) -> tuple[CheckedBundle, FaultLog]:
    """Check a bundle with two films that have these columns beside the usual ones."""
    bundles.write(folder, [{**node, "fields": {}} for node in bundles.NODES[::2]], edges=[], form="parquet")
    table = {"id": ["f2", "f1"], "type": ["film", "film"], "name": ["Amber Road", "Birch Street"], **columns}
    pq.write_table(pa.table(table), folder / "nodes.parquet")
    pq.write_table(pa.table({"source": ["f1"], "relation": ["R"], "target": ["f2"]}), folder / "edges.parquet")
    log = FaultLog()
    return check(folder, log), log


def test_prices_in_decimals_are_a_field_of_numbers(tmp_path: Path) -> None:
    found, log = bundle(tmp_path, {"price": pa.array([Decimal("1.51"), None], pa.decimal128(10, 2))})
    assert log.bad_rows == 0
    assert found.fields[0]["price"].kind == "number"
    assert [node.fields for _, node in found.good_nodes()] == [{"price": 1.51}, {}]


def test_a_standard_column_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"nodes\.parquet cannot be read without its column 'name': .* map<"):
        bundle(tmp_path, {"name": pa.array([[("a", "b")]] * 2, pa.map_(pa.string(), pa.string()))})


def test_fields_in_a_struct_and_names_that_are_numbers_are_read(tmp_path: Path) -> None:
    fields = pa.array([{"year": 1999, "tags": ["a"]}, {"year": None, "tags": None}])
    found, log = bundle(tmp_path, {"fields": fields, "name": pa.array([1984, 2001])})
    assert log.bad_rows == 0
    assert [(node.name, node.fields) for _, node in found.good_nodes()] == [
        ("1984", {"year": 1999, "tags": ["a"]}), ("2001", {}),
    ]  # fmt: skip


def test_a_mapping_that_uses_a_column_no_field_can_hold_is_told_why(tmp_path: Path) -> None:
    odd = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))
    pq.write_table(pa.table({"id": ["a"], "odd": odd}), tmp_path / "things.parquet")
    columns = {"id": {"use": "id"}, "odd": {"use": "text"}}
    file = {"path": "things.parquet", "role": "nodes", "type": "thing", "format": "parquet", "columns": columns}
    with pytest.raises(BundleError, match="Column 'odd' holds map<string, int8>, which no field can hold"):
        mapped_source(tmp_path, SourceMapping.from_json({"name": "things", "files": [file]}))


def test_times_of_an_unknown_zone_are_read_as_utc_with_a_remark(tmp_path: Path) -> None:
    found, log = bundle(tmp_path, {"made": pa.array([0, None], pa.timestamp("s", "Middle/Earth"))})
    assert [node.fields for _, node in found.good_nodes()] == [{"made": "1970-01-01T00:00:00+00:00"}, {}]
    assert "unknown zone 'Middle/Earth'" in log.remarks[0].message


def test_a_time_that_no_calendar_has_is_one_sentence_of_its_column(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"Column 'c0' has a day or time that no calendar has.*rows 1 to 1"):
        values(tmp_path, pa.array([-(10**14)], pa.timestamp("s")))


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "things.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([b"1"]), pa.array([b"2"])], names=["a", "a"]), path)
    with pytest.raises(BundleError, match="names a column twice: 'a'"):
        columns_of(BundleFile(path, "parquet"))


def test_a_text_that_the_file_has_once_is_in_memory_once(tmp_path: Path) -> None:
    long = "z" * 100_000
    texts, lists = values(tmp_path, pa.array([long] * 3_000), pa.array([[long, "k"]] * 3_000))
    # 3,000 copies would be 300 MB; batches of a file may have one copy each.
    assert len({id(text) for text in texts}) <= 2
    assert texts[-1] == long
    assert len({id(items[0]) for items in lists}) <= 2
    assert lists[-1] == [long, "k"]


def test_cells_have_a_bound(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"Column 'c0' has a cell of \d+ MB; at most \d+ MB are read"):
        values(tmp_path, pa.array(["z" * (LONGEST_CELL + 1)]))
    with pytest.raises(BundleError, match=f"Column 'c0' has a list of {MOST_ITEMS + 1:,} items"):
        values(tmp_path, pa.array([[1], [0] * (MOST_ITEMS + 1)], pa.list_(pa.int8())))
