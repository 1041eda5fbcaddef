"""The size of a bundle, from which the time, the disk and the memory of long work are estimated."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow
import pyarrow.parquet
import zstandard

from search.ingest.faults import BundleError
from search.ingest.manifest import MANIFEST_FILE
from search.ingest.readers import BundleFile, find

HEAD_BYTES = 1 << 20
"""Bytes of a compressed file from which its content is estimated."""
STRETCHES = 8
"""Places of a plain file at which its rows are sampled, because rows of one type often stand together."""
MOST_UNPACKED = 64 << 20
"""Bytes to which these bytes are unpacked at most."""


@dataclass(frozen=True, slots=True)
class Size:
    """Nodes, edges, the characters of all nodes' rows, and the bytes of both files (0 where there are no files)."""

    nodes: int = 0
    edges: int = 0
    characters: int = 0
    node_bytes: int = 0
    edge_bytes: int = 0


def bundle_size(folder: Path) -> Size:
    """Return the size of a bundle as far as it can be told in some milliseconds: counts of `kb.json`, else a sample.

    A bundle that cannot be read has no size; its import says what is wrong with it.
    """
    try:
        nodes, edges = find(folder, "nodes"), find(folder, "edges")
        node_rows, characters = _sampled(nodes)
        edge_rows, _ = _sampled(edges)
        declared = orjson.loads((folder / MANIFEST_FILE).read_bytes().removeprefix(b"\xef\xbb\xbf"))
        node_rows = _counted(_entries(declared, "node_types")) or node_rows
        edge_rows = _counted(_entries(declared, "relation_types")) or edge_rows
        return Size(node_rows, edge_rows, characters, nodes.size, edges.size)
    except (BundleError, OSError, EOFError, zlib.error, zstandard.ZstdError, pyarrow.ArrowException, ValueError):
        return Size()


def _sampled(source: BundleFile) -> tuple[int, int]:
    """Return about how many rows and characters a file has."""
    size = source.size
    if source.format == "parquet":
        metadata = pyarrow.parquet.read_metadata(source.path)
        groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
        return metadata.num_rows, sum(group.total_byte_size for group in groups)
    if not source.compression:
        sample = _stretches(source.path, size)
        return _rows(sample, size), size
    with source.path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    sample = _unpacked(head, source.compression)
    characters = int(len(sample) / max(1, len(head)) * size)
    return _rows(sample, characters), characters


def _stretches(path: Path, size: int) -> bytes:
    length = HEAD_BYTES // STRETCHES
    if size <= HEAD_BYTES:
        return path.read_bytes()
    parts = []
    with path.open("rb") as file:
        for place in range(STRETCHES):
            file.seek(place * (size - length) // (STRETCHES - 1))
            parts.append(file.read(length))
    return b"".join(parts)


def _unpacked(head: bytes, compression: str) -> bytes:
    if compression == ".gz":
        return zlib.decompressobj(31).decompress(head, MOST_UNPACKED)
    with zstandard.ZstdDecompressor().stream_reader(head) as stream:
        return stream.read(MOST_UNPACKED)


def _rows(sample: bytes, characters: int) -> int:
    return round(sample.count(b"\n") * characters / len(sample)) if sample else 0


def _entries(declared: Any, key: str) -> Iterable[Any]:
    given = declared.get(key) if isinstance(declared, Mapping) else None
    if isinstance(given, Mapping):
        return given.values()
    return given if isinstance(given, list) else ()


def _counted(entries: Iterable[Any]) -> int:
    """Return the sum of the entries' counts, or 0 if an entry has none."""
    counts: list[int] = []
    for entry in entries:
        count = entry.get("count") if isinstance(entry, Mapping) else None
        if not isinstance(count, int) or count < 0:
            return 0
        counts.append(count)
    return sum(counts)
