"""How large a source is, and so what its import is expected to take, before anything is imported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.read_all import DatabaseReader, ReadFailed
from search.domain.job_kinds import Needs
from search.domain.vector_kinds import USUAL
from search.ingest import parts
from search.ingest.size import Size
from search.services.imports.look import LookRefused, look
from search.services.knowledge.expected import import_needs, import_parts, new_dimensions
from search.services.uploads.unpack_upload import PART

UNPACKED_FACTOR = 4
"""Bytes of the content for each byte of an archive or a compressed file; rows of text rarely compress better."""
CHARACTERS_A_NODE = 400
EDGES_A_NODE = 2
UNPACK_SECONDS_A_BYTE = 1.5e-8
READ_SECONDS_A_NODE, READ_SECONDS_AN_EDGE = 1e-4, 5e-5
"""Seconds of reading from a database on another machine."""


def measured_folder(
    folder: Path, mapping: Mapping[str, Any] | None, name: str, *, accept_guess: bool = True
) -> tuple[Size, str, int]:
    """Return the size of a folder's source, why it cannot be imported (empty: it can), and the bad rows that were seen.

    Raises InvalidRequest for a faulty mapping.
    """
    given = dict(mapping) if mapping else None
    try:
        found = look("measure", folder, mapping=given, called=name, accept_guess=accept_guess)
    except LookRefused as refused:
        return Size(), str(refused), 0
    return Size(*found["size"]), found["problem"], found["bad_rows"]


def packed_size(received: int) -> Size:
    """Return a guess of the size of files that are not unpacked yet, from their bytes."""
    characters = received * UNPACKED_FACTOR
    nodes = characters // CHARACTERS_A_NODE
    return Size(nodes, nodes * EDGES_A_NODE, characters)


def database_size(address: Address) -> Size:
    """Return the size of a database; no size if it does not answer."""
    try:
        nodes, edges = DatabaseReader(address).counts()
    except ReadFailed:
        return Size()
    return Size(nodes, edges, nodes * CHARACTERS_A_NODE)


def source_parts(size: Size, packed: int = 0, *, database: bool = False, **options: bool) -> dict[str, float]:
    """Return part → size. `packed` is the number of bytes to unpack first; `options` are of `parts_of`."""
    before: dict[str, float] = {}
    if packed:
        before[PART] = UNPACK_SECONDS_A_BYTE * packed * UNPACKED_FACTOR
    if database:
        before |= {
            parts.READ_NODES: READ_SECONDS_A_NODE * size.nodes,
            parts.READ_EDGES: READ_SECONDS_AN_EDGE * size.edges,
        }
    return before | _own_parts(size, **options)


def source_needs(size: Size, packed: int = 0, *, index: bool, vectors: bool = True, check_only: bool = False) -> Needs:
    """Return the disk and the memory that the import of a source needs beside what is there."""
    content = packed * UNPACKED_FACTOR
    needs = import_needs(size, new_dimensions(), index=index and not check_only, kinds=_kinds(vectors))
    return Needs(content if check_only else needs.disk + content, needs.memory)


def _kinds(vectors: bool) -> int:
    return len(USUAL) if vectors else 0


def _own_parts(size: Size, *, index: bool, vectors: bool = True, check_only: bool = False) -> dict[str, float]:
    every = import_parts(size, index=index and not check_only, kinds=_kinds(vectors))
    checks = (parts.CHECK_NODES, parts.CHECK_EDGES)
    return {part: every[part] for part in checks} if check_only else every
