"""Rows of Parquet files: every type of Arrow becomes texts, numbers and lists of these, or its column is left out.

A column is read by its type, so a type that no field can hold is said once for the column and never for its rows.
Structs become columns of their own, called `struct.member`. Values that a file stores once and repeats by reference
(dictionaries) are kept once in memory as well.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet
from pyarrow import types

from search.ingest.csv_records import LONGEST_CELL
from search.ingest.faults import BundleError

BATCH_ROWS = 8_192
BATCH_BYTES = 1 << 26
"""Bytes of a batch's values of fixed width; wide values are read in batches of fewer rows."""
MOST_ITEMS = 1 << 20
"""Most items of a list."""
DEEPEST = 32
"""Structs inside each other whose members are columns."""
SHOWN_TYPE = 60
"""Most characters of the name of a type in a sentence."""

Values = Callable[[Any], list[Any]]
"""Function from an Arrow array to its values as texts, numbers, lists of these, and None."""

_ZEROS = re.compile(r"(\.[0-9]*?)0+(?=$|[-+Z])")
_TIME = re.compile(r"(.*) ([0-9:.]+)(?:([+-][0-9]{2})([0-9]{2})|(Z?))")
_LARGEST = 1 << 64
"""JSON holds whole numbers of 64 bits."""


@dataclass(frozen=True)
class ParquetColumn:
    """A column as rows have it: its name, the file's column and the members that lead to it, and its reader."""

    name: str
    root: str
    path: tuple[int, ...]
    values: Values


@dataclass(frozen=True)
class ParquetColumns:
    """The columns of a file; `left_out` maps those that no field can hold to a sentence, `notes` are remarks."""

    read: tuple[ParquetColumn, ...]
    left_out: dict[str, str]
    notes: tuple[str, ...] = ()


def parquet_columns(path: Path, name: str) -> ParquetColumns:
    """Return how the columns of a file are read. Raises BundleError and pyarrow's exceptions."""
    status = path.stat()
    return _known_columns(path, name, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=32)
def _known_columns(path: Path, name: str, size: int, changed: int) -> ParquetColumns:
    """Return the columns of a file of this size and time of change; columns of bytes take reading to know them."""
    with _opened(path) as file:
        return _columns(file, name)


def parquet_rows(path: Path, name: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (rows of the whole file, number from 1, row). Raises BundleError and pyarrow's exceptions."""
    columns = parquet_columns(path, name)
    with _opened(path) as file:
        number, total = 0, file.metadata.num_rows
        roots = list(dict.fromkeys(column.root for column in columns.read))
        for batch in file.iter_batches(batch_size=_batch_rows(file), columns=roots):
            lists = [_read(column, batch, name, number) for column in columns.read]
            names = [column.name for column in columns.read]
            for at in range(batch.num_rows):
                number += 1
                yield total, number, {called: values[at] for called, values in zip(names, lists, strict=True)}


def _opened(path: Path) -> pyarrow.parquet.ParquetFile:
    """Open a file so that the texts of its dictionaries are kept once and not for each row."""
    metadata = pyarrow.parquet.read_metadata(path)
    schema = metadata.schema
    texts = {
        column.path for at in range(len(schema)) if (column := schema.column(at)).physical_type == "BYTE_ARRAY"
        and column.logical_type.type != "DECIMAL"
    }  # fmt: skip
    return pyarrow.parquet.ParquetFile(path, metadata=metadata, read_dictionary=sorted(texts))


def _batch_rows(file: pyarrow.parquet.ParquetFile) -> int:
    """Return the number of rows of a batch: fewer where values are wide or rows have long lists."""
    fixed = sum(max(1, file.schema.column(at).length) for at in range(len(file.schema)))
    width, items = float(8 * fixed), 1.0
    for at in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(at)
        counts = [group.column(place).num_values for place in range(group.num_columns)]
        width = max(width, group.total_byte_size / max(1, group.num_rows))
        items = max([items, *(count / max(1, group.num_rows) for count in counts)])
    return max(1, int(min(BATCH_ROWS, BATCH_BYTES / max(1.0, width), 4 * MOST_ITEMS / items)))


def _columns(file: pyarrow.parquet.ParquetFile, name: str) -> ParquetColumns:
    found: list[ParquetColumn] = []
    left_out: dict[str, str] = {}
    notes: list[str] = []
    schema = file.schema_arrow
    _refuse_twice(name, schema.names)
    for root, called, path, type_ in ((field.name, *entry) for field in schema for entry in _flat(field, ())):
        values = _values_of(type_)
        if values is None:
            what = f"Column '{called}' holds {_called(type_)}, which no field can hold"
            left_out[called] = f"{what}; write it as a text, a number, or a list of these."
        elif _is_binary(type_) and not _is_text(file, root, path):
            what = f"Column '{called}' holds bytes ({_called(type_)}) that are no text in UTF-8"
            left_out[called] = f"{what}; write texts, or a link to the content."
        else:
            found.append(ParquetColumn(called, root, path, values))
            if (zone := _unknown_zone(type_)) is not None:
                notes.append(f"Column '{called}' has times of the unknown zone {zone!r}, which are read as UTC.")
            if types.is_duration(_item(type_)):
                notes.append(f"Column '{called}' holds durations, which become numbers of seconds.")
    _refuse_twice(name, [column.name for column in found] + list(left_out))
    return ParquetColumns(tuple(found), left_out, tuple(notes))


def _refuse_twice(name: str, columns: list[str]) -> None:
    """Raise BundleError if two columns of a file have the same name."""
    if twice := [called for called, times in Counter(columns).items() if times > 1]:
        raise BundleError(f"{name}: the file names a column twice: {', '.join(map(repr, twice[:5]))}.")


def _flat(field: pyarrow.Field, path: tuple[int, ...], before: str = "") -> Iterator[tuple[str, tuple[int, ...], Any]]:
    """Yield (name, path, type) of a column, or of each member of a struct."""
    type_, called = field.type, before + field.name
    if types.is_struct(type_) and type_.num_fields and len(path) < DEEPEST:
        for at in range(type_.num_fields):
            yield from _flat(type_.field(at), (*path, at), f"{called}.")
    else:
        yield called, path, type_


def _array(batch: pyarrow.RecordBatch, root: str, path: tuple[int, ...]) -> pyarrow.Array:
    """Return the values of a column, or of a member of a struct where the struct is not null."""
    array = batch.column(root)
    for at in path:
        array = array.flatten()[at]
    return array


def _read(column: ParquetColumn, batch: pyarrow.RecordBatch, name: str, before: int) -> list[Any]:
    try:
        return column.values(_array(batch, column.root, column.path))
    except _Refused as refused:
        rows = f"rows {before + 1:,} to {before + batch.num_rows:,}"
        raise BundleError(f"{name}: Column '{column.name}' {refused} ({rows}).") from refused


class _Refused(ValueError):
    """A value that cannot be read; the text goes on after the name of the column."""


def _values_of(type_: Any) -> Values | None:
    """Return how values of a type are read, or None if no field can hold them."""
    if isinstance(type_, pyarrow.BaseExtensionType):
        # The storage of UUIDs is their 16 bytes; other extensions (JSON, for example) are what they are stored as.
        return _uuids if type_.extension_name == "arrow.uuid" else _of_storage(_values_of(type_.storage_type))
    if types.is_dictionary(type_):
        inner = _values_of(type_.value_type)
        return None if inner is None else partial(_repeated, inner)
    if _is_list(type_):
        inner = None if _is_list(type_.value_type) else _values_of(type_.value_type)
        return None if inner is None else partial(_lists, inner)
    return next((values for fits, values in _SIMPLE if fits(type_)), None)


def _is_list(type_: Any) -> bool:
    return (
        types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_)
        or types.is_list_view(type_) or types.is_large_list_view(type_)
    )  # fmt: skip


def _item(type_: Any) -> Any:
    """Return the type of the single values of lists and dictionaries."""
    while _is_list(type_) or types.is_dictionary(type_):
        type_ = type_.value_type
    return type_


def _is_binary(type_: Any) -> bool:
    item = _item(type_)
    return (
        types.is_binary(item) or types.is_large_binary(item) or types.is_fixed_size_binary(item)
        or types.is_binary_view(item)
    )  # fmt: skip


def _is_any_text(type_: Any) -> bool:
    return types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_) or _is_binary(type_)


def _called(type_: Any) -> str:
    """Return the name of a type without what dictionaries add to it."""
    text = re.sub(r"dictionary<values=(\w+), indices=\w+, ordered=\d>| \('[^']*'\)", r"\1", str(type_))
    return text if len(text) <= SHOWN_TYPE else f"{text[:SHOWN_TYPE]}…"


def _is_text(file: pyarrow.parquet.ParquetFile, root: str, path: tuple[int, ...]) -> bool:
    """Whether all values of a column of bytes are texts in UTF-8 without NUL; reading stops at the first other one."""
    for batch in file.iter_batches(batch_size=_batch_rows(file), columns=[root]):
        array = _array(batch, root, path)
        while _is_list(array.type):
            array = array.flatten()
        if types.is_dictionary(array.type):
            array = array.dictionary
        try:
            texts = array.cast(pyarrow.large_string())
        except pyarrow.ArrowInvalid:
            return False
        if pyarrow.compute.any(pyarrow.compute.match_substring(texts, "\0")).as_py():
            return False
    return True


def _unknown_zone(type_: Any) -> str | None:
    """Return the time zone of a type if this machine does not know it."""
    item = _item(type_)
    if not types.is_timestamp(item) or item.tz is None:
        return None
    try:
        pyarrow.array([0], item).cast(pyarrow.string())
    except pyarrow.ArrowInvalid:
        return str(item.tz)
    return None


def _plain(array: Any) -> list[Any]:
    return array.to_pylist()


def _texts(array: Any) -> list[Any]:
    longest = pyarrow.compute.max(pyarrow.compute.binary_length(array)).as_py() or 0
    if longest > LONGEST_CELL:
        raise _Refused(f"has a cell of {longest >> 20} MB; at most {LONGEST_CELL >> 20} MB are read")
    return _plain(array.cast(pyarrow.large_string()) if _is_binary(array.type) else array)


def _floats(array: Any) -> list[Any]:
    """Return the shortest spelling of each number in its own width: 0.1 is 0.1 in any width; NaN is no value."""
    if array.type.bit_width < 64:
        wide = array.to_numpy(zero_copy_only=False)
        dtype = np.dtype(f"f{array.type.bit_width // 8}")
        found = [float(str(dtype.type(value))) for value in wide]
        valid = array.is_valid().to_pylist()
        return [value if ok and not math.isnan(value) else None for value, ok in zip(found, valid, strict=True)]
    return [None if value is not None and math.isnan(value) else value for value in array.to_pylist()]


def _decimals(array: Any) -> list[Any]:
    return [None if value is None else _number(value) for value in array.to_pylist()]


def _number(value: Decimal) -> int | float | str:
    """Return the number if JSON holds it exactly as it was written, otherwise its text."""
    if value.as_tuple().exponent == 0 or (value == value.to_integral_value() and abs(value) > 1 << 53):
        return int(value) if -_LARGEST // 2 <= value < _LARGEST else format(value, "f")
    number = float(value)
    return number if Decimal(repr(number)) == value else format(value, "f")


def _dates(array: Any) -> list[Any]:
    return [_in_range(text) for text in array.cast(pyarrow.string()).to_pylist()]


def _in_range(text: str | None) -> str | None:
    if text is not None and text.startswith("<"):
        raise _Refused(f"has a day or time that no calendar has: {text.strip('<>')}")
    return text


def _clock(array: Any) -> list[Any]:
    return [_without_zeros(text) for text in _dates(array)]


def _without_zeros(text: str | None) -> str | None:
    return None if text is None else _ZEROS.sub(lambda found: found[1].rstrip("."), text)


def _times(array: Any) -> list[Any]:
    """Return ISO 8601 texts; a time with a zone is the zone's own time with its distance to UTC."""
    if _unknown_zone(array.type) is not None:
        array = array.cast(pyarrow.timestamp(array.type.unit, "UTC"))
    return [None if text is None else _iso(text) for text in _clock(array)]


def _iso(text: str) -> str:
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    day, clock, hours, minutes, utc = found.groups()
    return f"{day}T{clock}" + (f"{hours}:{minutes}" if hours else "+00:00" if utc else "")


def _seconds(array: Any) -> list[Any]:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[array.type.unit]
    return [
        None if count is None else count // per_second if count % per_second == 0 else count / per_second
        for count in array.cast(pyarrow.int64()).to_pylist()
    ]


def _uuids(array: Any) -> list[Any]:
    return [None if value is None else str(value) for value in array.to_pylist()]


def _of_storage(values: Values | None) -> Values | None:
    return None if values is None else lambda array: values(array.storage)


def _repeated(inner: Values, array: Any) -> list[Any]:
    """Return the values of a dictionary array; those that are used are read once, and shared by their rows."""
    known = np.asarray(array.is_valid())
    used, places = np.unique(array.indices.drop_null().to_numpy(), return_inverse=True)
    values = inner(array.dictionary.take(pyarrow.array(used)))
    found: list[Any] = [None] * len(array)
    for at, place in zip(np.flatnonzero(known).tolist(), places.tolist(), strict=True):
        found[at] = values[place]
    return found


def _lists(inner: Values, array: Any) -> list[Any]:
    lengths = pyarrow.compute.list_value_length(array).to_pylist()
    longest = max((length for length in lengths if length), default=0)
    if longest > MOST_ITEMS:
        raise _Refused(f"has a list of {longest:,} items; at most {MOST_ITEMS:,} are read")
    items, at, found = inner(array.flatten()), 0, []
    for length in lengths:
        found.append(None if length is None else items[at : at + length])
        at += length or 0
    return found


_SIMPLE: tuple[tuple[Callable[[Any], bool], Values], ...] = (
    (_is_any_text, _texts),
    (types.is_boolean, _plain),
    (types.is_integer, _plain),
    (types.is_floating, _floats),
    (types.is_decimal, _decimals),
    (types.is_date, _dates),
    (types.is_timestamp, _times),
    (types.is_time, _clock),
    (types.is_duration, _seconds),
    (types.is_null, _plain),
)
"""Whether a type of single values is of a kind → how its values are read."""
