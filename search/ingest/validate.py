"""The first pass over a bundle: checks every row and assigns keys to ids, ends to edges and counts to types.

This pass writes no rows. It keeps ids, types and the columns of the edges in memory; the second pass reads the texts
again.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Field, FieldKind, NodeType, Relation, Schema
from search.domain.run_context import Progress, silent
from search.ingest.edges import EdgeCollector, Edges, count_relation_types
from search.ingest.ends import NO_NODE, no_node
from search.ingest.faults import DUPLICATE, BundleError, FaultLog, RowFault
from search.ingest.fields import FieldKinds
from search.ingest.manifest import MOST_CODES, Manifest
from search.ingest.parts import CHECK_EDGES, CHECK_NODES, READ_NODES
from search.ingest.readers import BadRow, NumberedRow, columns_of
from search.ingest.rows import EDGE_COLUMNS, NODE_COLUMNS, EdgeRow, NodeRow, RowChecker, RowError, unread_columns
from search.ingest.source import Source, Table, bundle_source
from search.ingest.text_formats import PartRow, ValueRow

MOST_LEFT_OUT = 100_000
"""Ids of bad rows that are kept, so that the faults of edges can name those rows."""


@dataclass(frozen=True)
class CheckedBundle:
    """A bundle whose rows have been checked, ready to be loaded.

    `nodes` holds the tables of nodes, `fields` the fields of each node type by name. `key_of` maps the position of a
    good node among the good nodes of all tables to its key. `type_of` holds the type code of each key. `skip` holds the
    positions of bad rows among all rows of the tables. `stamps` show whether a file changed between the two passes.
    """

    manifest: Manifest
    nodes: tuple[Table, ...]
    schema: Schema
    fields: tuple[Mapping[str, Field], ...]
    key_of: NDArray[np.int32]
    type_of: NDArray[np.int16]
    skip: frozenset[int]
    edges: Edges
    content_hash: str
    stamps: tuple[tuple[int, int], ...]

    def good_nodes(self, progress: Progress = silent, step: str = READ_NODES) -> Iterator[tuple[int, NodeRow]]:
        """Read the nodes again and yield (key, node) for each good one, in the order of the tables."""
        for table, stamp in zip(self.nodes, self.stamps, strict=True):
            if stamp != table.stamp:
                raise BundleError(f"{table.name} changed while it was being read.")
        index = position = 0
        for table, found in _each(self.nodes, None, progress, step):
            checker = _checker(self.manifest, table)
            for _, row in found:
                if index not in self.skip and not isinstance(row, BadRow):
                    yield int(self.key_of[position]), checker.node(row)
                    position += 1
                index += 1


def check(source: Path | Source, log: FaultLog, progress: Progress = silent) -> CheckedBundle:
    """Read and check a whole source; the faults of its rows are added to `log`. A folder is read as a bundle.

    Raises BundleError if the folder is not a bundle, or if one of the files cannot be read as a whole.
    """
    if isinstance(source, Path):
        source = bundle_source(source)
    for remark in source.remarks:
        log.remark(remark)
    digest = hashlib.blake2b(source.manifest.content, digest_size=32)
    stamps = tuple(table.stamp for table in source.nodes)
    nodes = _Nodes(source.manifest, log)
    nodes.read(source.nodes, digest, progress)
    ids, key_of, type_of = nodes.finish()
    edges, relations = _read_edges(source, ids, nodes, key_of, log, digest, progress)
    nodes.tell_doubts(", ".join(table.name for table in source.nodes))
    manifest, kinds = nodes.manifest(), nodes.fields()
    return CheckedBundle(
        manifest=manifest,
        nodes=source.nodes,
        schema=_schema(manifest, kinds, type_of, relations, edges),
        fields=tuple({field.name: field for field in fields} for fields in kinds),
        key_of=key_of,
        type_of=type_of,
        skip=frozenset(nodes.skip),
        edges=edges,
        content_hash=digest.hexdigest(),
        stamps=stamps,
    )


class _Nodes:
    """Checks and collects the nodes of a source."""

    def __init__(self, manifest: Manifest, log: FaultLog) -> None:
        self._manifest = manifest
        self._log = log
        self._names = [node_type.name for node_type in manifest.node_types]
        self._kinds: list[dict[str, FieldKinds]] = [
            {name: FieldKinds(declared) for name, declared in manifest.fields[type_].items()} for type_ in self._names
        ]
        self._ids: dict[str, int] = {}
        self._types = array("h")
        self._declared: dict[tuple[int, str], tuple[str, FieldKind | None]] = {}
        self.skip: set[int] = set()
        self.double_rows: dict[str, set[int]] = {}
        self.left_out: dict[str, str] = {}

    def read(self, tables: tuple[Table, ...], digest: hashlib.blake2b, progress: Progress) -> None:
        """Read all nodes of the tables; bad rows are logged and their positions added to `skip`."""
        index = -1
        for table, found in _each(tables, digest, progress, CHECK_NODES):
            checker = _checker(self.manifest(), table)
            _note_columns(table, NODE_COLUMNS, self._log)
            unread: set[str] = set()
            for number, row in found:
                index += 1
                if isinstance(row, ValueRow) and row["id"] in self._ids:
                    self.skip.add(index)
                    continue
                try:
                    self._take(self._node(checker, row), table)
                    _tell_lost(self._log, table, number, row)
                except RowError as error:
                    if error.faults[0][0] == DUPLICATE:
                        self.double_rows.setdefault(table.name, set()).add(number)
                    self.skip.add(index)
                    _log(self._log, table, number, error)
                    self._leave_out(row, f"row {number} of {table.name}")
                    continue
                if type(row) is dict and len(row) > 4 and not checker.flat and (more := unread_columns(row) - unread):
                    unread |= more
                    message = f"These keys are ignored: {', '.join(sorted(more))}."
                    self._log.remark(RowFault(table.name, number, "unread_key", message))

    def _leave_out(self, row: dict[str, Any] | BadRow, where: str) -> None:
        """Note the id of a bad row, so that the faults of its edges name it."""
        id_ = row.id if isinstance(row, BadRow) else row.get("id")
        if isinstance(id_, str) and id_ and len(self.left_out) < MOST_LEFT_OUT:
            self.left_out.setdefault(id_, where)

    def _node(self, checker: RowChecker, row: dict[str, Any] | BadRow) -> NodeRow:
        if isinstance(row, BadRow):
            raise RowError((row.kind, row.message))
        if self._manifest.open_types and (type_ := row.get("type")) not in checker.types:
            self._add_type(type_, checker)
        return checker.node(row)

    def _add_type(self, name: Any, checker: RowChecker) -> None:
        """Add a node type, unless its name cannot be one: then the row's check tells the fault."""
        if not isinstance(name, str) or not name.strip() or "\0" in name:
            return
        if len(self._names) == MOST_CODES:
            raise BundleError(f"There are more than {MOST_CODES} types; is the column of the type the right one?")
        checker.types[name] = len(self._names)
        self._names.append(name)
        self._kinds.append({})

    def _take(self, node: NodeRow, table: Table) -> None:
        if node.id in self._ids:
            where = f"Column '{table.id_column}': the id" if table.id_column else "The id"
            raise RowError((DUPLICATE, f"{where} {node.id[:100]!r} is already used by an earlier row."))
        self._ids[node.id] = len(self._types)
        self._types.append(node.type)
        if node.fields:
            kinds = self._kinds[node.type]
            for name, value in node.fields.items():
                if name not in kinds:
                    kinds[name] = FieldKinds(table.declared.get(name))
                if table.declared:
                    self._check_declared(node.type, name, table)
                kinds[name].observe(value)

    def _check_declared(self, type_: int, name: str, table: Table) -> None:
        """BundleError if two tables declare different kinds for the same field of a type."""
        kind = table.declared[name].kind if name in table.declared else None
        first, known = self._declared.setdefault((type_, name), (table.name, kind))
        if known != kind:
            raise BundleError(
                f"The field '{name}' of '{self._names[type_]}' is {known or 'of no declared kind'} in {first} and "
                f"{kind or 'of no declared kind'} in {table.name}; declare one kind, or give the field another name."
            )

    def manifest(self) -> Manifest:
        """Return the manifest with the node types that have been found so far."""
        known = self._manifest.node_types
        more = tuple(NodeType(name) for name in self._names[len(known) :])
        fields = {**self._manifest.fields, **{node_type.name: {} for node_type in more}}
        return replace(self._manifest, node_types=(*known, *more), fields=fields)

    def finish(self) -> tuple[dict[str, int], NDArray[np.int32], NDArray[np.int16]]:
        """Return id → position among the good nodes, the key of each position, and the type code of each key.

        Python compares text by code point, which is also the order of its UTF-8 bytes.
        """
        order = np.fromiter((self._ids[id_] for id_ in sorted(self._ids)), np.int32, len(self._ids))
        key_of = np.empty(len(order), np.int32)
        key_of[order] = np.arange(len(order), dtype=np.int32)
        return self._ids, key_of, np.array(self._types, np.int16)[order]

    def tell_doubts(self, where: str) -> None:
        """Remark on the fields that hold texts because of a few values."""
        for type_, kinds in zip(self._names, self._kinds, strict=True):
            for name, kind in kinds.items():
                if kind.doubt:
                    self._log.remark(RowFault(where, 0, "kind", f"The field '{name}' of '{type_}' {kind.doubt}."))

    def fields(self) -> list[tuple[Field, ...]]:
        """Return the fields of each type: those that at least one node has, and those declared with a kind."""
        found = []
        for type_, kinds in zip(self._names, self._kinds, strict=True):
            declared = self._manifest.fields.get(type_, {})
            found.append(
                tuple(
                    kind.field(name)
                    for name, kind in kinds.items()
                    if kind.coverage or (name in declared and declared[name].kind is not None)
                )
            )
        return found


def _each(
    tables: tuple[Table, ...], digest: hashlib.blake2b | None, progress: Progress, step: str
) -> Iterator[tuple[Table, Iterator[NumberedRow]]]:
    """Yield the tables with their rows; the progress counts the bytes of all of them."""
    total, before = sum(table.size for table in tables), 0
    for table in tables:
        yield table, table.rows(partial(_told, progress, step, before, total), digest)
        before += table.size


def _note_columns(table: Table, standard: frozenset[str], log: FaultLog) -> None:
    """Remark the columns that no field can hold; BundleError if one of them is a standard column of a bundle."""
    columns = columns_of(table.file)
    for name, sentence in columns.left_out.items():
        if table.flat and name in standard:
            raise BundleError(f"{table.name} cannot be read without its column '{name}': {sentence}")
        log.remark(RowFault(table.name, 0, "left_out_column", f"{sentence} It is left out."))
    for sentence in columns.notes:
        log.remark(RowFault(table.name, 0, "read_column", sentence))


def _told(progress: Progress, step: str, before: int, total: int, done: int) -> None:
    progress(step, before + done, total)


def _read_edges(
    source: Source,
    ids: Mapping[str, int],
    nodes: _Nodes,
    key_of: NDArray[np.int32],
    log: FaultLog,
    digest: hashlib.blake2b,
    progress: Progress,
) -> tuple[Edges, tuple[Relation, ...]]:
    collector = EdgeCollector(source.manifest.relations)
    for table, found in _each(source.edges, digest, progress, CHECK_EDGES):
        _note_columns(table, EDGE_COLUMNS, log)
        # The row of a node that is left out because another has its id says nothing of that other node.
        doubles = nodes.double_rows.get(table.name, set())
        own = ((number, row) for number, row in found if number not in doubles) if doubles else found
        _collect_edges(table, own, _checker(source.manifest, table), collector, ids, nodes.left_out, log)
    edges, relations = collector.finish(key_of, len(ids))
    if edges.doubles:
        message = (
            f"{edges.doubles:,} rows repeat an earlier relation (same source, name, target), which is loaded once."
        )
        where = ", ".join(dict.fromkeys(table.name for table in source.edges))
        log.remark(RowFault(where, 0, "double_edge", message), edges.doubles)
    return edges, relations


def _collect_edges(
    table: Table,
    found: Iterator[NumberedRow],
    checker: RowChecker,
    collector: EdgeCollector,
    ids: Mapping[str, int],
    left_out: Mapping[str, str],
    log: FaultLog,
) -> None:
    for number, row in found:
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
            collector.add(*_ends(edge, ids, left_out, table), edge.properties)
            _tell_lost(log, table, number, row)
        except RowError as error:
            _log(log, table, number, error)
        if collector.relations > MOST_CODES:
            raise BundleError(f"{table.name} has more than {MOST_CODES} relations.")


def _edge(checker: RowChecker, row: dict[str, Any] | BadRow) -> EdgeRow:
    if isinstance(row, BadRow):
        raise RowError((row.kind, row.message))
    return checker.edge(row)


def _ends(edge: EdgeRow, ids: Mapping[str, int], left_out: Mapping[str, str], table: Table) -> tuple[int, str, int]:
    source, target = ids.get(edge.source), ids.get(edge.target)
    if source is not None and target is not None:
        return source, edge.relation, target
    columns = table.ends.get(edge.relation) or table.ends.get("") or ("", "")
    missing = [
        (column, what, id_)
        for column, what, id_ in zip(columns, ("source", "target"), (edge.source, edge.target), strict=True)
        if id_ not in ids
    ]
    raise RowError(*((NO_NODE, no_node(what, id_, ids, left_out, column)) for column, what, id_ in missing))


def _tell_lost(log: FaultLog, table: Table, number: int, row: dict[str, Any] | BadRow) -> None:
    """Remark on the cells of a row that are left empty because they do not fit."""
    for sentence in row.lost if isinstance(row, PartRow) else ():
        log.remark(RowFault(table.name, number, "lost_cell", f"{sentence} The cell is left empty."))


def _checker(manifest: Manifest, table: Table) -> RowChecker:
    declared: dict[str, dict[str, FieldKind]] = {
        type_: {name: field.kind for name, field in fields.items() if field.kind is not None}
        for type_, fields in manifest.fields.items()
    }
    codes = {node_type.name: code for code, node_type in enumerate(manifest.node_types)}
    return RowChecker(codes, declared, flat=table.flat)


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


def _log(log: FaultLog, table: Table, number: int, error: RowError) -> None:
    kind = error.faults[0][0]
    log.add(RowFault(table.name, number, kind, " ".join(message for _, message in error.faults)))
