"""The first pass over a bundle: checks every row and assigns keys to ids, ends to edges and counts to types.

This pass writes no rows. It keeps ids, types and the columns of the edges in memory; the second pass reads the texts
again.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Field, FieldKind, Relation, Schema
from search.ingest.edges import EdgeCollector, Edges, count_relation_types
from search.ingest.faults import BundleError, FaultLog, RowFault
from search.ingest.fields import FieldKinds
from search.ingest.manifest import MOST_CODES, Manifest, read_manifest
from search.ingest.progress import Progress, silent
from search.ingest.readers import BadRow, BundleFile, NumberedRow, find, rows
from search.ingest.rows import EdgeRow, NodeRow, RowChecker, RowError, unread_columns


@dataclass(frozen=True)
class CheckedBundle:
    """A bundle whose rows have been checked, ready to be loaded.

    `nodes` is the file of nodes, `fields` the fields of each node type by name. `key_of` maps the position of a good
    node among the good nodes of the file to its key. `type_of` holds the type code of each key. `skip` holds the
    positions of bad rows among all rows of the file. `stamp` (size, modification time) shows whether the file changed
    between the two passes.
    """

    folder: Path
    manifest: Manifest
    nodes: BundleFile
    schema: Schema
    fields: tuple[Mapping[str, Field], ...]
    key_of: NDArray[np.int32]
    type_of: NDArray[np.int16]
    skip: frozenset[int]
    edges: Edges
    content_hash: str
    stamp: tuple[int, int]

    def good_nodes(self, progress: Progress = silent, step: str = "Reading nodes") -> Iterator[tuple[int, NodeRow]]:
        """Read the nodes again and yield (key, node) for each good one, in the order of the file."""
        if self.stamp != _stamp(self.nodes):
            raise BundleError(f"{self.nodes.name} changed while it was being read.")
        checker = _checker(self.manifest, self.nodes)
        position = 0
        size = self.nodes.size
        for index, (_, row) in enumerate(rows(self.nodes, lambda done: progress(step, done, size))):
            if index in self.skip or isinstance(row, BadRow):
                continue
            yield int(self.key_of[position]), checker.node(row)
            position += 1


def check(folder: Path, log: FaultLog, progress: Progress = silent) -> CheckedBundle:
    """Read and check a whole bundle; the faults of its rows are added to `log`.

    Raises BundleError if the folder is not a bundle, or if one of its files cannot be read as a whole.
    """
    manifest = read_manifest(folder)
    node_source, edge_source = find(folder, "nodes"), find(folder, "edges")
    digest = hashlib.blake2b(manifest.content, digest_size=32)
    stamp = _stamp(node_source)
    nodes = _Nodes(manifest, log)
    nodes.read(node_source, digest, progress)
    ids, key_of, type_of = nodes.finish()
    edges, relations = _read_edges(edge_source, manifest, ids, key_of, log, digest, progress)
    kinds = nodes.fields()
    schema = _schema(manifest, kinds, type_of, relations, edges)
    return CheckedBundle(
        folder=folder,
        manifest=manifest,
        nodes=node_source,
        schema=schema,
        fields=tuple({field.name: field for field in fields} for fields in kinds),
        key_of=key_of,
        type_of=type_of,
        skip=frozenset(nodes.skip),
        edges=edges,
        content_hash=digest.hexdigest(),
        stamp=stamp,
    )


class _Nodes:
    """Checks and collects the nodes of a bundle."""

    def __init__(self, manifest: Manifest, log: FaultLog) -> None:
        self._manifest = manifest
        self._log = log
        self._names = tuple(node_type.name for node_type in manifest.node_types)
        self._kinds: tuple[dict[str, FieldKinds], ...] = tuple(
            {name: FieldKinds(declared) for name, declared in manifest.fields[type_].items()} for type_ in self._names
        )
        self._ids: dict[str, int] = {}
        self._types = array("h")
        self.skip: set[int] = set()

    def read(self, source: BundleFile, digest: hashlib.blake2b, progress: Progress) -> None:
        """Read all nodes of a file; bad rows are logged and their positions added to `skip`."""
        checker = _checker(self._manifest, source)
        unread: set[str] = set()
        size = source.size
        for index, (number, row) in enumerate(_rows(source, digest, progress, "Checking nodes", size)):
            try:
                self._take(_node(checker, row))
            except RowError as error:
                self.skip.add(index)
                _log(self._log, source, number, error)
                continue
            if type(row) is dict and len(row) > 4 and not checker.flat and (more := unread_columns(row) - unread):
                unread |= more
                message = f"These keys are ignored: {', '.join(sorted(more))}."
                self._log.remark(RowFault(source.name, number, "unread_key", message))

    def _take(self, node: NodeRow) -> None:
        if node.id in self._ids:
            raise RowError(("duplicate_id", f"The id {node.id[:100]!r} is already used by an earlier row."))
        self._ids[node.id] = len(self._types)
        self._types.append(node.type)
        if node.fields:
            kinds = self._kinds[node.type]
            for name, value in node.fields.items():
                if name not in kinds:
                    kinds[name] = FieldKinds()
                kinds[name].observe(value)

    def finish(self) -> tuple[dict[str, int], NDArray[np.int32], NDArray[np.int16]]:
        """Return id → position among the good nodes, the key of each position, and the type code of each key.

        Python compares text by code point, which is also the order of its UTF-8 bytes.
        """
        order = np.fromiter((self._ids[id_] for id_ in sorted(self._ids)), np.int32, len(self._ids))
        key_of = np.empty(len(order), np.int32)
        key_of[order] = np.arange(len(order), dtype=np.int32)
        return self._ids, key_of, np.array(self._types, np.int16)[order]

    def fields(self) -> list[tuple[Field, ...]]:
        """Return the fields of each type: those that at least one node has, and those declared with a kind."""
        found = []
        for type_, kinds in zip(self._names, self._kinds, strict=True):
            declared = self._manifest.fields[type_]
            found.append(
                tuple(
                    kind.field(name)
                    for name, kind in kinds.items()
                    if kind.coverage or (name in declared and declared[name].kind is not None)
                )
            )
        return found


def _node(checker: RowChecker, row: dict[str, Any] | BadRow) -> NodeRow:
    if isinstance(row, BadRow):
        raise RowError((row.kind, row.message))
    return checker.node(row)


def _rows(
    source: BundleFile, digest: hashlib.blake2b, progress: Progress, step: str, size: int
) -> Iterator[NumberedRow]:
    return rows(source, lambda done: progress(step, done, size), digest)


def _read_edges(
    source: BundleFile,
    manifest: Manifest,
    ids: Mapping[str, int],
    key_of: NDArray[np.int32],
    log: FaultLog,
    digest: hashlib.blake2b,
    progress: Progress,
) -> tuple[Edges, tuple[Relation, ...]]:
    checker = _checker(manifest, source)
    collector = EdgeCollector(manifest.relations)
    for number, row in _rows(source, digest, progress, "Checking edges", source.size):
        if type(row) is dict and len(row) == 3:
            # Nearly all edges join known ids over a known relation; they need no further check.
            begin, relation, end = row.get("source"), row.get("relation"), row.get("target")
            if (
                type(begin) is str
                and type(relation) is str
                and type(end) is str
                and collector.add_known(ids.get(begin), relation, ids.get(end))
            ):
                continue
        try:
            edge = _edge(checker, row)
            collector.add(*_ends(edge, ids), edge.properties)
        except RowError as error:
            _log(log, source, number, error)
        if collector.relations > MOST_CODES:
            raise BundleError(f"{source.name} has more than {MOST_CODES} relations.")
    edges, relations = collector.finish(key_of, len(ids))
    if edges.doubles:
        message = f"{edges.doubles} edges repeat an earlier one (same source, relation, target) and are loaded once."
        log.remark(RowFault(source.name, 0, "double_edge", message), edges.doubles)
    return edges, relations


def _edge(checker: RowChecker, row: dict[str, Any] | BadRow) -> EdgeRow:
    if isinstance(row, BadRow):
        raise RowError((row.kind, row.message))
    return checker.edge(row)


def _ends(edge: EdgeRow, ids: Mapping[str, int]) -> tuple[int, str, int]:
    source, target = ids.get(edge.source), ids.get(edge.target)
    if source is not None and target is not None:
        return source, edge.relation, target
    missing = [(what, id_) for what, id_ in (("source", edge.source), ("target", edge.target)) if id_ not in ids]
    raise RowError(*(("no_such_node", f"There is no node {id_[:100]!r} for the {what}.") for what, id_ in missing))


def _checker(manifest: Manifest, source: BundleFile) -> RowChecker:
    declared: dict[str, dict[str, FieldKind]] = {
        type_: {name: field.kind for name, field in fields.items() if field.kind is not None}
        for type_, fields in manifest.fields.items()
    }
    codes = {node_type.name: code for code, node_type in enumerate(manifest.node_types)}
    return RowChecker(codes, declared, flat=source.format != "jsonl")


def _schema(
    manifest: Manifest,
    fields: list[tuple[Field, ...]],
    type_of: NDArray[np.int16],
    relations: tuple[Relation, ...],
    edges: Edges,
) -> Schema:
    counts = np.bincount(type_of, minlength=len(manifest.node_types))
    types = tuple(
        replace(node_type, count=int(count), fields=of_type)
        for node_type, count, of_type in zip(manifest.node_types, counts, fields, strict=True)
    )
    names = tuple(node_type.name for node_type in types)
    pairs = count_relation_types(edges, type_of, names, tuple(relation.name for relation in relations))
    return Schema(types, relations, pairs, manifest.language)


def _log(log: FaultLog, source: BundleFile, number: int, error: RowError) -> None:
    kind = error.faults[0][0]
    log.add(RowFault(source.name, number, kind, " ".join(message for _, message in error.faults)))


def _stamp(source: BundleFile) -> tuple[int, int]:
    status = source.path.stat()
    return status.st_size, status.st_mtime_ns
