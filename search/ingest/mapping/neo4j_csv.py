"""Mapping of the CSV files of `neo4j-admin database import`, read from their headers.

The header's syntax is that of the Neo4j operations manual, "Neo4j Admin import", section "CSV header format":
`name:type`, where the type is a property's type (`int`, `string[]` …) or one of ID, LABEL, START_ID, END_ID, TYPE and
IGNORE, with an id space in parentheses. A header may be a file of its own (`movies-header.csv`, `movies.csv`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from search.ingest.mapping.guess import Reason, base_name
from search.ingest.mapping.guess_columns import guess_fields
from search.ingest.mapping.guess_roles import NAME_NAMES, plain
from search.ingest.mapping.mapping import ColumnMapping, FileMapping, SourceMapping
from search.ingest.mapping.sniff import Sniffed, split_suffix

_SPECIAL = re.compile(r"(?P<name>[^:]*):(?P<kind>ID|START_ID|END_ID|LABEL|TYPE|IGNORE)(\((?P<space>[^)]*)\))?(\{.*\})?")
_TYPED = re.compile(r"(?P<name>.+?):(?P<kind>[A-Za-z]+)(?P<many>\[\])?(\{.*\})?")
_HEADER_FILE = re.compile(r"[-_. ]?header$", re.IGNORECASE)
NUMBERS = frozenset(("int", "long", "float", "double", "byte", "short", "integer"))
DATES = frozenset(("date", "localdatetime", "datetime"))
ARRAY_SEPARATOR = ";"
"""Neo4j's default separator of arrays and labels."""
USES = {"ID": "id", "START_ID": "source", "END_ID": "target", "LABEL": "type", "TYPE": "relation", "IGNORE": "ignore"}


@dataclass(frozen=True, slots=True)
class HeaderColumn:
    """One column of a header: its property's name, its type (or ID, LABEL …), its id space, whether it is a list."""

    name: str
    kind: str
    space: str = ""
    many: bool = False


def read_column(text: str) -> HeaderColumn:
    """Return the column that a cell of the header declares."""
    text = re.sub(r" \d+$", "", text) if text.startswith(":IGNORE") else text
    if match := _SPECIAL.fullmatch(text):
        return HeaderColumn(match["name"], match["kind"], match["space"] or "")
    if match := _TYPED.fullmatch(text):
        return HeaderColumn(match["name"], match["kind"].lower(), many=bool(match["many"]))
    return HeaderColumn(text, "")


def is_header(columns: Sequence[str]) -> bool:
    """Whether the columns are a header of neo4j-admin: an id, or both ends."""
    kinds = {read_column(column).kind for column in columns}
    return "ID" in kinds or {"START_ID", "END_ID"} <= kinds


def neo4j_mapping(called: str, files: Sequence[Sniffed]) -> tuple[SourceMapping, list[Reason]]:
    """Return the mapping of the files, and the reasons where something was chosen rather than read."""
    headers = {_stem(one.file.path): one for one in files if is_header(one.columns)}
    spaces = {
        column.space for one in headers.values() for column in map(read_column, one.columns) if column.kind == "ID"
    }
    reasons: list[Reason] = []
    mapped = []
    for one in files:
        header = one if is_header(one.columns) else _header_of(one, headers)
        if header is None or (not one.sample and header is one):
            role = "its columns are the header of other files" if header is one else "it has no header of neo4j-admin"
            reasons.append(Reason(one.file.path, "", "ignore", role))
            mapped.append(replace(one.file, role="ignore"))
        else:
            mapped.append(_file(one, header, len(spaces) > 1, reasons))
    return SourceMapping(base_name(called), tuple(mapped)), reasons


def _stem(path: str) -> str:
    return _HEADER_FILE.sub("", split_suffix(path)[0])


def _header_of(one: Sniffed, headers: dict[str, Sniffed]) -> Sniffed | None:
    """Return the header file whose stem begins the file's name, the longest first."""
    stem = split_suffix(one.file.path)[0]
    fitting = [name for name, header in headers.items() if stem.startswith(name) and not header.sample]
    return headers[max(fitting, key=len)] if fitting else None


def _file(one: Sniffed, header: Sniffed, spaced: bool, reasons: list[Reason]) -> FileMapping:
    file = one.file
    if header is not one:
        file = replace(file, names=header.columns, header=False)
        sample = tuple(dict(zip(header.columns, row.values(), strict=False)) for row in one.sample)
        decisions = dict(zip(header.columns, one.decisions.values(), strict=False))
        one = replace(one, columns=header.columns, sample=sample, decisions=decisions)
    found = {text: read_column(text) for text in header.columns}
    columns = {text: _column(one, text, column, spaced) for text, column in found.items()}
    if "ID" not in {column.kind for column in found.values()}:
        return _edges(file, columns, reasons)
    names = {plain(column.name): text for text, column in found.items() if column.kind in ("", "string")}
    name = next((names[candidate] for candidate in NAME_NAMES if candidate in names), "")
    if name:
        columns[name] = ColumnMapping("name")
        reasons.append(Reason(file.path, name, "name", "its name says so"))
    type_ = "" if any(column.kind == "LABEL" for column in found.values()) else _constant(file.path)
    if type_:
        reasons.append(
            Reason(file.path, "", f"type '{type_}'", "there is no column :LABEL, and the file's name says so")
        )
    return replace(file, role="nodes", type=type_, columns=columns)


def _edges(file: FileMapping, columns: dict[str, ColumnMapping], reasons: list[Reason]) -> FileMapping:
    relation = ""
    if not any(column.use == "relation" for column in columns.values()):
        relation = _constant(file.path)
        because = "there is no column :TYPE, and the file's name says so"
        reasons.append(Reason(file.path, "", f"relation '{relation}'", because))
    return replace(file, role="edges", relation=relation, columns=columns)


def _constant(path: str) -> str:
    return PurePosixPath(_stem(path)).name


def _column(one: Sniffed, text: str, column: HeaderColumn, spaced: bool) -> ColumnMapping:
    if column.kind in USES:
        prefix = f"{column.space}:" if spaced and column.space else ""
        separator = ARRAY_SEPARATOR if column.kind == "LABEL" else ""
        return ColumnMapping(USES[column.kind], prefix=prefix, separator=separator)
    separator = ARRAY_SEPARATOR if column.many else ""
    if column.kind in NUMBERS:
        use = "number"
    elif column.kind in DATES:
        use = "date"
    elif column.kind == "string":
        # A declared text stays a text even if all its values look like numbers (postal codes, ISBNs).
        guessed = guess_fields(one, text, own="").column.use
        use = guessed if guessed in ("text", "keyword") else "keyword"
    else:
        use = "field"
    return ColumnMapping(use, name=column.name if column.name != text else "", separator=separator)
