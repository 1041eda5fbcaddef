"""A source of a knowledge base: its manifest, and tables that yield nodes and edges in the form of a bundle's rows.

Whatever the files look like, the two passes of an import (`validate`, `load`) see a `Source` only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from search.ingest.faults import RowFault
from search.ingest.manifest import DeclaredField, Manifest, read_manifest
from search.ingest.readers import BadRow, BundleFile, BytesRead, NumberedRow, find, rows

Converter = Callable[[dict[str, Any]], Iterator[dict[str, Any] | BadRow]]
"""Turns the columns of a file's row into rows of nodes or edges as a bundle in JSON lines has them."""

ROW_NUMBER = "\0row"
"""Column of a row's number; no file has a column of this name, because a name holds no NUL."""


@dataclass(frozen=True)
class Table:
    """The rows of one file.

    `flat` is set if columns other than the standard ones are fields (a bundle's CSV, TSV and Parquet). `convert` turns
    the rows of other files into a bundle's rows. `declared` holds the kinds of the fields of this file. `limit` is the
    number of rows after which reading stops; None reads the whole file. With `numbered`, `convert` gets the number of
    the row in the column `ROW_NUMBER`. `id_column` and `ends` are the columns that faults name: of the ids of nodes,
    and by relation (empty: any) of source and target of edges. A table `of_values` yields nodes that values stand for.
    """

    file: BundleFile
    flat: bool = False
    convert: Converter | None = None
    declared: Mapping[str, DeclaredField] = field(default_factory=dict)
    limit: int | None = None
    numbered: bool = False
    id_column: str = ""
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    of_values: bool = False

    @property
    def name(self) -> str:
        """Name of the file in faults."""
        return self.file.name

    @property
    def size(self) -> int:
        """Size on disk in bytes."""
        return self.file.size

    @property
    def stamp(self) -> tuple[int, int]:
        """Size and modification time; they show whether the file changed between two passes."""
        status = self.file.path.stat()
        return status.st_size, status.st_mtime_ns

    def rows(self, read: BytesRead, digest: hashlib.blake2b | None = None) -> Iterator[NumberedRow]:
        """Yield the rows; see `readers.rows`. A row of the file may become several, all with its number."""
        found = self.unconverted(read, digest)
        return found if self.convert is None else self._converted(found, self.convert)

    def unconverted(self, read: BytesRead, digest: hashlib.blake2b | None = None) -> Iterator[NumberedRow]:
        """Yield the rows as the file has them."""
        found = rows(self.file, read, digest)
        return found if self.limit is None else islice(found, self.limit)

    def _converted(self, found: Iterator[NumberedRow], convert: Converter) -> Iterator[NumberedRow]:
        for number, row in found:
            if isinstance(row, BadRow):
                yield number, row
            else:
                for converted in convert({**row, ROW_NUMBER: number} if self.numbered else row):
                    yield number, converted


@dataclass(frozen=True)
class Source:
    """Everything that an import reads. The tables of `nodes` yield the same rows whenever they are read.

    `label` says to people where it came from. `mapping` is the JSON of the mapping of plain files, if there is one.
    `remarks` say how its files are read where nobody has said it.
    """

    manifest: Manifest
    nodes: tuple[Table, ...]
    edges: tuple[Table, ...]
    label: str = ""
    mapping: Mapping[str, Any] | None = None
    remarks: tuple[RowFault, ...] = ()

    @property
    def name(self) -> str:
        """Name of the knowledge base."""
        return self.manifest.name

    def __str__(self) -> str:
        return self.label or self.name


def bundle_source(folder: Path) -> Source:
    """Return the source of a bundle; BundleError if the folder is not a bundle."""
    manifest = read_manifest(folder)
    nodes, edges = (Table(file, flat=file.format != "jsonl") for file in (find(folder, "nodes"), find(folder, "edges")))
    return Source(manifest, (nodes,), (edges,), label=str(folder))


def manifest_of(source: Path | Source) -> Manifest:
    """Return the manifest of a source, or of the bundle in a folder; BundleError if there is none."""
    return source.manifest if isinstance(source, Source) else read_manifest(source)
