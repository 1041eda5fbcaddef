"""Finds out how a file is written: compression, format, encoding, and what its columns hold.

The format is found in the first bytes, the encoding in all of them, and the formats of numbers and dates in all rows.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import zstandard

from search.ingest.faults import BundleError
from search.ingest.mapping.below import MOST_BELOW, rows_below
from search.ingest.mapping.decide import Decision, decide
from search.ingest.mapping.dialect import find_dialect
from search.ingest.mapping.encodings import Encoding, find_encoding
from search.ingest.mapping.mapping import FileMapping
from search.ingest.mapping.profile import Profile
from search.ingest.mapping.source import opened
from search.ingest.readers import BUFFER, BundleFile, rows
from search.ingest.text_formats import BadRow, NumberedRow

HEAD_BYTES = 1 << 18
"""Bytes of the unpacked file that are looked at to find its format."""
SAMPLE_ROWS = 1_000
SAMPLE_CHARACTERS = 1 << 26
"""Most rows of a sample, and characters of all its rows after which no further row is taken."""
LOOKED_AT_ROWS = 1_000_000
"""Most rows of a file that are looked at to find the formats of its columns; a later row that has another is bad."""
LONGEST_KEY = 120
MOST_KEYS = 200_000
"""Characters of a value, and different values of a column, up to which they are kept to find references to them."""
LOOKED_AT_BYTES = 1 << 30
"""Most unpacked bytes that are looked at to find the encoding."""
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
"""Endings of the files that can hold rows, without `.gz` and `.zst`."""
MAGIC = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class Sniffed:
    """A file whose form is known: its mapping without uses, its columns, and its first rows.

    `bad_rows` are rows of the sample that cannot be read; `complete` says that the sample is the whole file, `whole`
    that all of its rows were looked at. `decisions` say what the values of each column are. `unsure` says what cannot
    be found out about the file, and therefore has to be given. `repeated` are columns in which a value occurs twice,
    `keys` the values of those in which none does, as far as they are short and not too many.
    """

    file: FileMapping
    columns: tuple[str, ...]
    sample: tuple[dict[str, Any], ...]
    bad_rows: tuple[tuple[int, BadRow], ...]
    complete: bool
    notes: tuple[str, ...] = ()
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    whole: bool = True
    unsure: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()
    keys: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def decision(self, column: str) -> Decision:
        """Return what the values of a column are."""
        return self.decisions.get(column) or Decision()

    def values(self, column: str) -> list[Any]:
        """Return the values of a column in the sample that are not empty."""
        return [value for row in self.sample if (value := row.get(column)) is not None and value != ""]


def split_suffix(name: str) -> tuple[str, str, str]:
    """Return stem, format and compression that a file's name says; the format is empty if it says none."""
    compression = next((ending for ending in MAGIC if name.lower().endswith(ending)), "")
    stem = name[: -len(compression)] if compression else name
    suffix = Path(stem).suffix
    return stem.removesuffix(suffix), SUFFIXES.get(suffix.lower(), ""), compression


def sniff(folder: Path, path: str) -> Sniffed:
    """Return the form of a file in the folder; BundleError with a sentence if it holds no rows that can be read."""
    _, format_, compression = split_suffix(path)
    if not format_:
        raise BundleError(f"{path}: the name has none of the endings {', '.join(SUFFIXES)} (each plain, .gz or .zst).")
    head, more = _head(folder / path, path, compression)
    file = FileMapping(path, "ignore", format_, compression)
    if format_ == "parquet":
        if compression:
            raise BundleError(f"{path}: Parquet compresses by itself; unpack the file.")
        if head[:4] != PARQUET_MAGIC:
            raise BundleError(f"{path} is no Parquet file, although its name says so.")
        return _sampled(folder, file)
    if not head.strip():
        raise BundleError(f"{path} is empty.")
    if head[:4] == PARQUET_MAGIC:
        raise BundleError(f"{path} is a Parquet file; name it so.")
    encoding = _encoding(folder / path, path, compression, _stamp(folder / path))
    file = replace(file, encoding=encoding.name)
    text = head.decode(encoding.name, "replace").removeprefix("\ufeff")
    unsure = (encoding.unsure,) if encoding.unsure else ()
    if format_ == "jsonl":
        _check_json(path, text, more)
        return _sampled(folder, file, notes=encoding.notes, unsure=unsure)
    found = find_dialect(file, text, more)
    return _sampled(folder, found.file, found.columns, (*encoding.notes, *found.notes), unsure)


def read_as(folder: Path, sniffed: Sniffed, file: FileMapping) -> Sniffed:
    """Return the sample of a file as a mapping says it is written; as it was found if it cannot be read that way."""
    if file.format == "parquet" or opened(folder, file) == opened(folder, sniffed.file):
        return sniffed
    try:
        found = list(islice(rows(opened(folder, file), lambda done: None), SAMPLE_ROWS))
    except BundleError:
        return sniffed
    good = tuple(row for _, row in found if isinstance(row, dict))
    columns = tuple(dict.fromkeys(name for row in good for name in row))
    return replace(sniffed, file=file, sample=good, columns=columns) if columns else sniffed


def _head(path: Path, name: str, compression: str) -> tuple[bytes, bool]:
    """Return the first unpacked bytes, and whether there are more; BundleError if the file is not what it says."""
    with _unpacked(path, name, compression) as stream:
        head = stream.read(HEAD_BYTES + 1)
    return head[:HEAD_BYTES], len(head) > HEAD_BYTES


@contextmanager
def _unpacked(path: Path, name: str, compression: str) -> Iterator[Any]:
    """Open a file for its unpacked bytes; BundleError if it is not what its name says."""
    try:
        with path.open("rb") as raw:
            begin = raw.read(4)
            for ending, magic in MAGIC.items():
                if (ending == compression) != begin.startswith(magic):
                    called = "is" if compression != ending else "is not"
                    raise BundleError(f"{name} {called} packed with {ending[1:]}, although its name says otherwise.")
            raw.seek(0)
            if compression == ".gz":
                yield gzip.GzipFile(fileobj=raw)
            elif compression == ".zst":
                yield zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False)
            else:
                yield raw
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise BundleError(f"{name} is damaged or not what its name says: {error}") from error
    except OSError as error:
        raise BundleError(f"{name} cannot be read: {error.strerror}.") from error


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes when the content of a file does."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


@lru_cache(maxsize=128)
def _encoding(path: Path, name: str, compression: str, stamp: tuple[int, int, int]) -> Encoding:
    with _unpacked(path, name, compression) as stream:
        blocks = iter(lambda: stream.read(BUFFER), b"")
        return find_encoding(name, islice(blocks, LOOKED_AT_BYTES // BUFFER))


@dataclass(frozen=True)
class _Seen:
    """What was seen in the columns of a file; see `Sniffed`."""

    decisions: Mapping[str, Decision]
    repeated: frozenset[str]
    keys: Mapping[str, frozenset[str]]


@lru_cache(maxsize=128)
def _all_looked_at(file: BundleFile, stamp: tuple[int, int, int]) -> tuple[_Seen, bool]:
    """Return what is in each column, and whether all rows were looked at."""
    numbered = rows(file, lambda done: None)
    found = _looked_at(islice(numbered, LOOKED_AT_ROWS))
    return found, next(numbered, None) is None


def _looked_at(numbered: Iterable[NumberedRow]) -> _Seen:
    profiles: dict[str, Profile] = {}
    keys: dict[str, set[str]] = {}
    repeated = set()
    for number, row in numbered:
        if not isinstance(row, dict):
            continue
        for name, value in row.items():
            profile = profiles.get(name)
            if profile is None:
                profile, keys[name] = profiles.setdefault(name, Profile()), set()
            profile.observe(value, number)
            known = keys.get(name)
            if known is None or value is None or value == "":
                continue
            text = str(value).strip()
            if text in known:
                repeated.add(name)
            elif len(text) <= LONGEST_KEY and len(known) < MOST_KEYS:
                known.add(text)
                continue
            del keys[name]
    decisions = {name: decide(profile) for name, profile in profiles.items()}
    return _Seen(decisions, frozenset(repeated), {name: frozenset(found) for name, found in keys.items()})


def _check_json(path: str, text: str, more: bool) -> None:
    if text.lstrip()[:1] == "[":
        raise BundleError(f"{path} is one JSON array; write one object a line, for example with: jq -c '.[]' FILE")
    first, separator, _ = text.lstrip().partition("\n")
    if not separator and more:
        return
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError as error:
        raise BundleError(
            f"{path} is not JSON lines, because its first line is no JSON object ({error}); "
            "write one object a line, for example with: jq -c . FILE"
        ) from error


def _sampled(
    folder: Path, file: FileMapping, header: tuple[str, ...] = (), notes: tuple[str, ...] = (),
    unsure: tuple[str, ...] = (),
) -> Sniffed:  # fmt: skip
    source = opened(folder, file)
    taken, complete = _first_rows(rows(source, lambda done: None))
    if complete and file.format in ("csv", "tsv") and (below := _below(taken)):
        file = replace(file, below=below)
        note = _told_below([row for _, row in taken[-below:] if isinstance(row, dict)])
        notes, taken = (*notes, note), taken[:-below]
    good = tuple(row for _, row in taken if isinstance(row, dict))
    bad = tuple((number, row) for number, row in taken if isinstance(row, BadRow))
    columns = tuple(dict.fromkeys(name for row in good for name in row)) or header
    if complete or file.format == "parquet":
        seen, whole = _looked_at(taken), complete
    else:
        seen, whole = _all_looked_at(source, _stamp(source.path))
    return Sniffed(
        file, columns, good, bad, complete, notes, seen.decisions, whole, unsure, seen.repeated, seen.keys
    )  # fmt: skip


def _below(taken: list[NumberedRow]) -> int:
    """Return the number of the last rows that are none of the table; a row that cannot be read ends the search."""
    good = [row for _, row in taken if isinstance(row, dict)]
    last = [row for _, row in taken[-MOST_BELOW:]]
    return rows_below(good, _looked_at(taken).decisions) if all(isinstance(row, dict) for row in last) else 0


def _told_below(left_out: list[dict[str, Any]]) -> str:
    first = "; ".join(" ".join(str(cell) for cell in row.values() if cell)[:60] for row in left_out)
    rows_are = "row is" if len(left_out) == 1 else f"{len(left_out)} rows are"
    return f"The last {rows_are} not read, as a sum or a note below the table: {first!r}."


def _first_rows(found: Iterator[NumberedRow]) -> tuple[list[NumberedRow], bool]:
    """Return the first rows, within the bounds of a sample, and whether they are all."""
    taken: list[NumberedRow] = []
    characters = 0
    for numbered in found:
        if len(taken) == SAMPLE_ROWS or characters > SAMPLE_CHARACTERS:
            return taken, False
        taken.append(numbered)
        if isinstance(numbered[1], dict):
            characters += sum(len(cell) for cell in numbered[1].values() if isinstance(cell, str))
    return taken, True
