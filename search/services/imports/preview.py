"""preview: what an import of a folder would make, from the first rows of its files, in seconds and little memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple
from itertools import islice
from pathlib import Path
from typing import Any

from search.ingest.detect import UNSURE, Detected, detect
from search.ingest.faults import BundleError, FaultLog, Groups, RowFault
from search.ingest.mapping.doubts import doubts
from search.ingest.mapping.guess import NUMBERED
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.settle import settled
from search.ingest.mapping.sniff import read_as
from search.ingest.mapping.source import mapped_source
from search.ingest.readers import BundleFile, rows
from search.ingest.sample import Sample, sample
from search.ingest.size import Size, bundle_size
from search.ingest.source import Source, bundle_source
from search.ingest.stated_counts import with_stated_counts
from search.ingest.text_formats import BadRow
from search.services.imports.estimate import estimate
from search.services.imports.examples import NamesOfRows, cell_text, choices_of, read_examples
from search.services.imports.folder_source import folder_source

NOTHING_IN_IT = "There is nothing to import: no file has a row of an entity."
FIRST_ROWS = 10
FAULTS_SHOWN = 100
FILES_SHOWN = 200


def preview(folder: Path, mapping: Mapping[str, Any] | None = None, called: str = "") -> dict[str, Any]:
    """Return as JSON what the folder holds and what an import with the mapping would make of it.

    Without `mapping`, the one of the files' headers or the guess is used. `called` is the name of the knowledge base in
    a guess. The keys: `kind`, `why`, `name` (of the knowledge base, where the source says one), `files` (columns with
    use and reason, first rows, estimated rows), `mapping`, `schema` (node types with fields, relation types: what a
    drawing of the schema shows), `nodes`, `edges`, `complete` (the counts are exact), `faults`, `fault_groups` (the
    same by kind and column), `remarks`, `bad_rows`, `warnings` (what is hardly meant, with changes of the mapping that
    mend it), `estimate`, and `problem`: why nothing can be imported as it is,
    else an empty text. A faulty mapping raises InvalidRequest; faults of the files are in the answer.
    """
    try:
        detected = detect(folder, called)
    except BundleError as error:
        return _nothing("unknown", "", str(error), error.faults)
    given = SourceMapping.from_json(dict(mapping)) if mapping else detected.mapping
    try:
        source = _source(detected, given, explicit=bool(mapping))
        found = sample(source)
    except BundleError as error:
        told = _faults(detected, given, explicit=bool(mapping))
        answer = _nothing(detected.kind, detected.why, str(error), (*told, *error.faults))
        return answer | {"mapping": given.to_json() if given else None, "files": _files(detected, None, given, {})}
    if detected.kind == "bundle" and not found.complete:
        found = with_stated_counts(found, detected.root)
    empty = found.complete and not found.nodes and not found.log.bad_rows
    return {
        "kind": detected.kind,
        "why": detected.why,
        "name": source.name,
        "problem": NOTHING_IN_IT if empty else "",
        "mapping": given.to_json() if given else None,
        "files": _files(detected, source, given, found.rows),
        "schema": schema_graph(found),
        "nodes": found.nodes,
        "edges": found.edges,
        "complete": found.complete,
        **_told(_faults(detected, given, explicit=bool(mapping)), found.log),
        "warnings": _warnings(detected, given, found),
        "estimate": estimate(found.nodes, found.edges, found.characters).to_json(),
    }


def measure(
    folder: Path, mapping: Mapping[str, Any] | None = None, called: str = "", accept_guess: bool = False
) -> dict[str, Any]:
    """Return as JSON the `size` of a folder's source, and a `problem` where it cannot be imported, else an empty text.

    The size comes from a bundle's manifest or the first rows of each file: the values of `Size`. `bad_rows` is the
    number of bad rows among those that were read, none of a bundle. A guess of what plain files hold is used with
    `accept_guess` only. A faulty mapping raises InvalidRequest.
    """
    try:
        source = folder_source(folder, mapping, name=called, accept_guess=accept_guess)
        if source.mapping is None:
            size = bundle_size(source.nodes[0].file.path.parent)
            return {"problem": "", "bad_rows": 0, "size": astuple(size)}
        found = sample(source)
    except BundleError as error:
        return {"problem": str(error), "bad_rows": 0, "size": astuple(Size())}
    node_bytes, edge_bytes = (sum(table.size for table in tables) for tables in (source.nodes, source.edges))
    bad_rows = found.log.bad_rows
    return {
        "problem": "",
        "bad_rows": bad_rows,
        "size": (found.nodes, found.edges, found.characters, node_bytes, edge_bytes),
    }


def schema_graph(found: Sample) -> dict[str, Any]:
    """Return the node types and the relations between them, as a drawing and its table show them."""
    return {
        "node_types": [
            {
                "name": node_type.name,
                "count": node_type.count,
                "fields": [
                    {"name": field.name, "kind": field.kind, "list": field.many, "coverage": field.coverage}
                    for field in node_type.fields
                ],
            }
            for node_type in found.schema.node_types
        ],
        "relation_types": [asdict(entry) for entry in found.schema.relation_types],
    }


def _source(detected: Detected, mapping: SourceMapping | None, *, explicit: bool) -> Source:
    if detected.kind == "bundle" and not explicit:
        return bundle_source(detected.root)
    if mapping is None:
        raise BundleError(f"This cannot be imported: {detected.why}.", detected.faults)
    return mapped_source(detected.root, mapping)


def _nothing(kind: str, why: str, problem: str, faults: tuple[RowFault, ...]) -> dict[str, Any]:
    """Return the preview of what cannot be imported."""
    return {
        "kind": kind,
        "why": why,
        "name": "",
        "problem": problem,
        "mapping": None,
        "files": [],
        "schema": {"node_types": [], "relation_types": []},
        "nodes": 0,
        "edges": 0,
        "complete": False,
        **_told(faults, FaultLog()),
        "warnings": [],
        "estimate": estimate(0, 0, 0).to_json(),
    }


def _faults(detected: Detected, mapping: SourceMapping | None, *, explicit: bool) -> tuple[RowFault, ...]:
    """Return the faults of the files, and what was found out about them that the mapping does not say otherwise."""
    if not explicit:
        return (*(fault for fault in detected.faults if fault.kind != "note"), *detected.told)
    guessed = {one.file.path: one.file.encoding for one in detected.files}
    kept = {file.path for file in mapping.files if file.encoding == guessed.get(file.path)} if mapping else set()
    return tuple(
        fault for fault in detected.faults if fault.kind != UNSURE and (fault.kind != "note" or fault.file in kept)
    )


def _warnings(detected: Detected, mapping: SourceMapping | None, found: Sample) -> list[dict[str, Any]]:
    if detected.kind != "tables" or mapping is None:
        return []
    return [asdict(doubt) for doubt in doubts(detected.files, mapping, found)[:FAULTS_SHOWN]]


def _told(faults: tuple[RowFault, ...], log: FaultLog) -> dict[str, Any]:
    notes = [fault for fault in faults if fault.kind == "note"]
    # The rows in which a file's form was looked for are among those that were checked.
    logged = set(log.faults)
    others = [fault for fault in dict.fromkeys(faults) if fault.kind != "note" and fault not in logged]
    listed = [*log.faults, *others]
    groups = [*log.groups.listed(), *Groups(others).listed()]
    return {
        "bad_rows": log.bad_rows,
        "fault_groups": [group.to_json() for group in groups[:FAULTS_SHOWN]],
        "faults": [asdict(fault) for fault in listed[:FAULTS_SHOWN]],
        "remarks": [asdict(remark) for remark in [*notes, *log.remarks][:FAULTS_SHOWN]],
    }


def _files(
    detected: Detected, source: Source | None, mapping: SourceMapping | None, counts: Mapping[str, int]
) -> list[dict[str, Any]]:
    if detected.kind == "bundle" and source is not None and mapping is None:
        return [
            _file(table.file, role, counts.get(table.name), [])
            for role, tables in (("nodes", source.nodes), ("edges", source.edges))
            for table in tables
        ]
    because = {(reason.file, reason.column): reason.because for reason in detected.reasons if reason.column}
    of_file = {(reason.file, reason.use.partition(" '")[0]): reason.because for reason in detected.reasons
               if not reason.column}  # fmt: skip
    names = NamesOfRows(detected.files, mapping)
    shown = []
    for one in settled(detected.files[:FILES_SHOWN]):
        path = one.file.path
        mapped = mapping.file(path) if mapping else None
        sniffed = one if mapped is None else read_as(detected.root, one, mapped)
        columns = [
            {
                "name": name,
                "mapping": mapped.columns[name].to_json() if mapped and name in mapped.columns else None,
                "because": because.get((path, name), ""),
                "examples": [cell_text(value) for value in sniffed.values(name)[:3]],
                "read": read_examples(sniffed, name, mapped, names),
                "choices": choices_of(sniffed, name),
            }
            for name in sniffed.columns
        ]
        role = mapped.role if mapped else "ignore"
        first = [{name: cell_text(value) for name, value in row.items()} for row in sniffed.sample[:FIRST_ROWS]]
        shown.append(
            {
                "path": path,
                "role": role,
                "because": of_file.get((path, role), ""),
                "because_type": of_file.get((path, "type" if role == "nodes" else "relation"), ""),
                "because_ids": of_file.get((path, NUMBERED), ""),
                "rows": counts.get(path, len(sniffed.sample) if sniffed.complete else None),
                "columns": columns,
                "first_rows": first,
            }
        )
    return shown


def _file(file: BundleFile, role: str, count: int | None, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a file of a bundle, whose columns need no mapping."""
    first = [row for _, row in islice(rows(file, lambda done: None), FIRST_ROWS) if not isinstance(row, BadRow)]
    names = list(dict.fromkeys(name for row in first for name in row))
    return {
        "path": file.name,
        "role": role,
        "because": "",
        "rows": count,
        "columns": columns or [{"name": name, "mapping": None, "because": "", "examples": []} for name in names],
        "first_rows": [{name: cell_text(value) for name, value in row.items()} for row in first],
    }
