"""The first rows of a source, checked like an import, with estimates of what the rest holds."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from search.domain.graph import NodeType, RelationType, Schema
from search.ingest.faults import FaultLog, RowFault
from search.ingest.readers import BytesRead, NumberedRow
from search.ingest.source import Source, Table
from search.ingest.validate import check

NODE_ROWS = 20_000
EDGE_ROWS = 40_000
"""Most rows of nodes, and of edges, that a sample reads, shared among the files."""
LEAST_ROWS = 1_000
"""Rows that are read of each file at least."""
READ_AHEAD = 1 << 14
UNKNOWN = "?"
"""Stands for a node type that the sample cannot tell: the ends of these edges are not among its nodes."""


@dataclass
class SeenValues:
    """What was read of one table: rows of the file, bytes of the file, converted rows by type or relation."""

    rows: int = 0
    bytes: int = 0
    complete: bool = True
    kinds: Counter[str] = field(default_factory=Counter)
    text: int = 0
    values: set[object] = field(default_factory=set)


@dataclass(frozen=True)
class SampledTable(Table):
    """A table of which only the first rows are read, and counted."""

    seen: SeenValues = field(default_factory=SeenValues)
    key: str = "type"

    @property
    def factor(self) -> float:
        """Estimated rows of the whole file for each row of the sample."""
        return 1.0 if self.seen.complete else max(1.0, self.size / max(1, self.seen.bytes))

    def unconverted(self, read: BytesRead, digest: hashlib.blake2b | None = None) -> Iterator[NumberedRow]:
        """Yield the first rows as the file has them."""

        def told(done: int) -> None:
            self.seen.bytes = done
            read(done)

        limit, self.seen.complete = self.limit or 0, False
        for numbered in replace(self.whole(), limit=limit + 1).unconverted(told):
            if self.seen.rows == limit:
                return
            self.seen.rows += 1
            yield numbered
        self.seen.complete = True

    def whole(self) -> Table:
        """Return the table that was sampled."""
        return Table(
            self.file, self.flat, self.convert, self.declared, numbered=self.numbered, id_column=self.id_column,
            ends=self.ends, of_values=self.of_values,
        )  # fmt: skip

    def rows(self, read: BytesRead, digest: hashlib.blake2b | None = None) -> Iterator[NumberedRow]:
        """Yield the first rows, counted by type or relation."""
        for numbered in super().rows(read, digest):
            row = numbered[1]
            if isinstance(row, dict) and not self._is_known(row):
                self.seen.kinds[str(row.get(self.key))] += 1
                self.seen.text += _characters(row)
            yield numbered

    def _is_known(self, row: dict[str, object]) -> bool:
        """Whether a row stands for a value that another row has had."""
        if not self.of_values:
            return False
        known = row["id"] in self.seen.values
        self.seen.values.add(row["id"])
        return known


@dataclass(frozen=True)
class Sample:
    """The schema of a source with estimated counts, and the faults of its first rows.

    `complete` says that the sample is the whole source, so that all counts are exact. `characters` is the estimated
    text of all nodes.
    """

    schema: Schema
    nodes: int
    edges: int
    characters: int
    complete: bool
    rows: dict[str, int]
    log: FaultLog


def sample(source: Source, node_rows: int = NODE_ROWS, edge_rows: int = EDGE_ROWS) -> Sample:
    """Check the first rows of a source. Raises BundleError as `check` does."""
    nodes, edges = _sampled(source.nodes, node_rows, "type"), _sampled(source.edges, edge_rows, "relation")
    log = FaultLog()
    checked = check(replace(source, nodes=nodes, edges=edges), log)
    whole = all(table.seen.complete for table in nodes)
    if not whole:
        _forget_unknown_ends(log)
    rows = {table.name: round(table.seen.rows * table.factor) for table in (*edges, *nodes)}
    if whole and all(table.seen.complete for table in edges):
        characters = sum(table.seen.text for table in nodes)
        return Sample(checked.schema, len(checked.key_of), len(checked.edges), characters, True, rows, log)
    types = _estimated(nodes)
    relations = _estimated(edges)
    node_types = tuple(_scaled(entry, types[entry.name]) for entry in checked.schema.node_types)
    return Sample(
        schema=replace(
            checked.schema, node_types=node_types, relation_types=_relation_types(checked.schema, relations)
        ),
        nodes=round(sum(types.values())),
        edges=round(sum(relations.values())),
        characters=round(sum(table.seen.text * table.factor for table in nodes)),
        complete=False,
        rows=rows,
        log=log,
    )


def _sampled(tables: tuple[Table, ...], rows: int, key: str) -> tuple[SampledTable, ...]:
    limit = max(LEAST_ROWS, rows // max(1, len(tables)))
    return tuple(
        SampledTable(
            replace(table.file, buffer=READ_AHEAD),
            table.flat,
            table.convert,
            table.declared,
            limit,
            table.numbered,
            table.id_column,
            table.ends,
            table.of_values,
            key=key,
        )
        for table in tables
    )


def _characters(row: dict[str, object]) -> int:
    fields = row.get("fields")
    values = [row.get("name"), *(fields.values() if isinstance(fields, dict) else row.values())]
    return sum(len(value) for value in values if isinstance(value, str))


def _estimated(tables: tuple[SampledTable, ...]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for table in tables:
        for kind, count in table.seen.kinds.items():
            # New values come ever more rarely, so those of the first rows are not scaled.
            found[kind] += count if table.of_values else count * table.factor
    return found


def _scaled(node_type: NodeType, estimate: float) -> NodeType:
    factor = estimate / node_type.count if node_type.count else 1.0
    fields = tuple(replace(field, coverage=round(field.coverage * factor)) for field in node_type.fields)
    return replace(node_type, count=round(estimate) if node_type.count else 0, fields=fields)


def _relation_types(schema: Schema, estimates: dict[str, float]) -> tuple[RelationType, ...]:
    """Return the pairs of types that the sample knows, scaled; a relation without any gets the unknown type."""
    known: Counter[str] = Counter()
    for entry in schema.relation_types:
        known[entry.relation] += entry.count
    scaled = [
        replace(entry, count=round(entry.count * max(1.0, estimates[entry.relation] / known[entry.relation])))
        for entry in schema.relation_types
    ]
    missing = [name for name in estimates if name not in known]
    return (*scaled, *(RelationType(UNKNOWN, name, UNKNOWN, round(estimates[name])) for name in missing))


def _forget_unknown_ends(log: FaultLog) -> None:
    """Take back faults of edges to nodes that are not in the sample: they may be further down in their file."""
    log.faults = [fault for fault in log.faults if fault.kind != "no_such_node"]
    log.bad_rows -= log.kinds.pop("no_such_node", 0)
    log.groups.forget("no_such_node")
    message = "Only the first rows were read, so whether all relations lead to entities is checked by the import."
    log.remark(RowFault("edges", 0, "sample", message))
