"""Finds every fault of a mapping written as JSON, each with its JSON pointer and what would be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import orjson

from search.domain.errors import Fault, nearest, pointer
from search.ingest.formats import DATE_FORMATS, NUMBER_FORMATS
from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.ingest.mapping.uses import DELIMITERS, FIELD_USES, ROLES, USES, VERSION
from search.ingest.readers import COMPRESSIONS, FORMATS
from search.ingest.text_formats import ENCODINGS, encoding_name

MAPPING_KEYS = ("version", "name", "about", "types", "relations", "files")
FILE_TEXTS: Mapping[str, tuple[str, ...] | None] = {
    "role": ROLES, "format": FORMATS, "compression": COMPRESSIONS, "delimiter": DELIMITERS, "type": None,
    "relation": None, "encoding": None,
}  # fmt: skip
"""Text keys of a file → their allowed values; None allows any text."""
FILE_KEYS = ("path", *FILE_TEXTS, "names", "header", "numbered", "skip", "below", "columns")
COLUMN_TEXTS = ("use", "name", "separator", "prefix", "relation", "numbers", "dates", "unit", "of", "by", "makes")
COLUMN_KEYS = (*COLUMN_TEXTS, "reverse", "lenient", "missing")
FORMATS_OF: Mapping[str, tuple[str, ...]] = {"numbers": tuple(NUMBER_FORMATS), "dates": DATE_FORMATS}
"""Key of a column → the formats that it may name."""
MOST_SKIPPED = 10_000
LONGEST = 200
"""Most characters of a name, prefix, type or relation in a mapping."""


def faults_of(data: Any) -> Iterator[Fault]:
    """Yield the faults of a mapping's JSON."""
    if not isinstance(data, dict):
        yield Fault("", "A mapping is a JSON object with 'name' and 'files'.")
        return
    try:
        orjson.dumps(data)
    except TypeError as error:
        yield Fault("", f"The mapping contains what JSON in UTF-8 cannot hold: {error}.")
        return
    yield from _unknown(data, MAPPING_KEYS, ())
    if data.get("version", VERSION) != VERSION:
        yield Fault("/version", f"This program reads mappings of version {VERSION}, not {data['version']!r}.")
    if not isinstance(data.get("name"), str) or not BASE_NAME.fullmatch(data["name"]):
        yield Fault("/name", f"'name' is the name of the knowledge base: {NAME_RULE}.")
    if not isinstance(data.get("about") or {}, dict):
        yield Fault("/about", "'about' is an object with entries of kb.json, such as title and language.")
    for key in ("types", "relations"):
        yield from _names(data.get(key) or {}, key)
    files = data.get("files")
    if not isinstance(files, list) or not files:
        yield Fault("/files", "'files' is a list with one object a file.")
        return
    for position, file in enumerate(files):
        yield from _file(file, ("files", position))
    yield from _together([file for file in files if isinstance(file, dict)])


def _names(given: Any, key: str) -> Iterator[Fault]:
    if not isinstance(given, dict):
        yield Fault(f"/{key}", f"'{key}' is an object from the files' labels to the names in the knowledge base.")
        return
    for label, name in given.items():
        if not _is_text(name) or not name.strip():
            yield Fault(pointer(key, label), f"The name for {label!r} is a text of 1 to {LONGEST} characters.")


def _together(files: list[dict[str, Any]]) -> Iterator[Fault]:
    """Yield the faults that only the files together have."""
    paths = Counter(str(file.get("path")) for file in files)
    for path, times in paths.items():
        if times > 1:
            yield Fault("/files", f"The file {path!r} is listed {times} times.")
    columns_of = {file.get("path"): file.get("columns") for file in files if file.get("role") == "nodes"}
    for position, file in enumerate(files):
        columns = file.get("columns")
        for name, column in columns.items() if isinstance(columns, dict) else ():
            if not isinstance(column, dict) or not column.get("by"):
                continue
            there = columns_of.get(column.get("of"))
            at = pointer("files", position, "columns", name, "by")
            if not isinstance(there, dict):
                yield Fault(at, "'by' needs 'of': the path of the file of entities whose column holds the same values.")
            elif column["by"] not in there:
                yield Fault(
                    at, f"{column['of']} has no column {column['by']!r}.", nearest(str(column["by"]), list(there))
                )
    if not columns_of:
        yield Fault("/files", "No file holds entities; give one file the role 'nodes'.")


def _file(file: Any, at: tuple[object, ...]) -> Iterator[Fault]:
    if not isinstance(file, dict):
        yield Fault(pointer(*at), "A file is an object with path, role and columns.")
        return
    yield from _unknown(file, FILE_KEYS, at)
    yield from _path(file.get("path"), at)
    if "role" not in file:
        yield Fault(pointer(*at, "role"), f"'role' is missing: one of {', '.join(ROLES)}.")
    for key, allowed in FILE_TEXTS.items():
        yield from _text(file, key, allowed, at)
    encoding = file.get("encoding", "utf-8")
    if _is_text(encoding) and encoding_name(encoding) is None:
        message = f"{encoding!r} is no encoding that is known here; known are {', '.join(ENCODINGS)}."
        yield Fault(pointer(*at, "encoding"), message, nearest(encoding, ENCODINGS))
    yield from _switches(file, at)
    names = file.get("names") or []
    if not isinstance(names, list) or not all(_is_text(name) for name in names):
        yield Fault(pointer(*at, "names"), "'names' is a list of the columns' names.")
    elif len(set(names)) != len(names):
        yield Fault(pointer(*at, "names"), "'names' lists a column twice.")
    columns = file.get("columns") or {}
    if not isinstance(columns, dict):
        yield Fault(pointer(*at, "columns"), "'columns' is an object with one entry a column.")
        return
    role = file.get("role")
    if isinstance(role, str) and role in ROLES:
        for name, column in columns.items():
            yield from _column(column, role, (*at, "columns", name))
        yield from _needs(file, role, columns, at)
        yield from _same_field(columns, (*at, "columns"))


def _switches(file: Mapping[str, Any], at: tuple[object, ...]) -> Iterator[Fault]:
    for key in ("header", "numbered"):
        if not isinstance(file.get(key, False), bool):
            yield Fault(pointer(*at, key), f"'{key}' is true or false.")
    for key, what in (("skip", "lines above the table"), ("below", "rows at its end that are not read")):
        count = file.get(key, 0)
        if type(count) is not int or not 0 <= count <= MOST_SKIPPED:
            yield Fault(pointer(*at, key), f"'{key}' is the number of {what}, 0 to {MOST_SKIPPED:,}.")


def _path(path: Any, at: tuple[object, ...]) -> Iterator[Fault]:
    where = pointer(*at, "path")
    if not isinstance(path, str) or not path or "\0" in path or "\\" in path:
        yield Fault(where, "'path' is the file's path in the folder, with '/' between its parts.")
    elif PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        yield Fault(where, f"The path {path!r} leads out of the folder.")


def _text(
    file: Mapping[str, Any], key: str, allowed: tuple[str, ...] | None, at: tuple[object, ...]
) -> Iterator[Fault]:
    value = file.get(key, "" if allowed is None else allowed[0])
    if not _is_text(value):
        yield Fault(pointer(*at, key), f"'{key}' is a text of at most {LONGEST} characters.")
    elif allowed is not None and value not in allowed:
        listed = ", ".join(repr(item) for item in allowed)
        yield Fault(pointer(*at, key), f"{value!r} is no {key}; it is one of {listed}.", nearest(value, allowed))


def _column(column: Any, role: str, at: tuple[object, ...]) -> Iterator[Fault]:
    if not isinstance(column, dict):
        yield Fault(pointer(*at), "A column is an object with its 'use'.")
        return
    yield from _unknown(column, COLUMN_KEYS, at)
    for key in COLUMN_TEXTS:
        if not _is_text(column.get(key, "")):
            yield Fault(pointer(*at, key), f"'{key}' is a text of at most {LONGEST} characters.")
    for key in ("reverse", "lenient"):
        if not isinstance(column.get(key, False), bool):
            yield Fault(pointer(*at, key), f"'{key}' is true or false.")
    yield from _written(column, at)
    use = column.get("use")
    if not isinstance(use, str) or use not in USES[role]:
        message = f"{use!r} is no use of a column of {role}; it is one of {', '.join(USES[role])}."
        yield Fault(pointer(*at, "use"), message, nearest(str(use), USES[role]))
    elif use == "edge" and role == "nodes" and not column.get("relation"):
        yield Fault(pointer(*at, "relation"), "A relation to other entities needs a name.")


def _written(column: Mapping[str, Any], at: tuple[object, ...]) -> Iterator[Fault]:
    """Yield the faults of how the cells of a column are written."""
    for key, allowed in FORMATS_OF.items():
        value = column.get(key, "")
        if value and _is_text(value) and value not in allowed:
            listed = ", ".join(repr(item) for item in allowed)
            message = f"{value!r} is no format of {key}; it is one of {listed}."
            yield Fault(pointer(*at, key), message, nearest(value, allowed))
    missing = column.get("missing") or []
    if not isinstance(missing, list | tuple) or not all(_is_text(word) for word in missing):
        yield Fault(pointer(*at, "missing"), "'missing' lists the words that stand for no value, such as NULL.")


def _needs(file: Mapping[str, Any], role: str, columns: Mapping[str, Any], at: tuple[object, ...]) -> Iterator[Fault]:
    """Yield what a file of this role lacks, and the uses that only one column may have."""
    uses = Counter(column.get("use") for column in columns.values() if isinstance(column, dict))
    where = pointer(*at, "columns")
    once = {"nodes": ("id", "type"), "edges": ("source", "target", "relation"), "ignore": ()}[role]
    for use in once:
        if uses[use] > 1:
            yield Fault(where, f"{uses[use]} columns have the use '{use}'; only one may have it.")
    if role == "nodes" and not uses["id"] and not file.get("numbered"):
        message = "No column has the use 'id'. Give it to one whose values all differ, or let the rows be numbered."
        yield Fault(pointer(*at, "numbered"), message)
    if role == "nodes" and uses["id"] and file.get("numbered"):
        message = "The rows are numbered, so no column has the use 'id': choose one of both."
        yield Fault(pointer(*at, "numbered"), message)
    if role == "nodes" and not uses["type"] and not file.get("type"):
        yield Fault(pointer(*at, "type"), "Entities need a type: a column with the use 'type', or 'type' for the file.")
    if role == "edges":
        for use in ("source", "target"):
            if not uses[use]:
                yield Fault(where, f"No column has the use '{use}'.")
        if not uses["relation"] and not file.get("relation"):
            message = "Give the relation: a column with the use 'relation', or 'relation' for the file."
            yield Fault(pointer(*at, "relation"), message)


def _same_field(columns: Mapping[str, Any], at: tuple[object, ...]) -> Iterator[Fault]:
    fields = [
        column.get("name") or name
        for name, column in columns.items()
        if isinstance(column, dict) and column.get("use") in FIELD_USES
    ]
    for called, times in Counter(map(str, fields)).items():
        if times > 1:
            yield Fault(pointer(*at), f"{times} columns become the field {called!r}; give each its own name.")


def _unknown(given: Mapping[str, Any], known: tuple[str, ...], at: tuple[object, ...]) -> Iterator[Fault]:
    for key in given.keys() - set(known):
        message = f"{key!r} is no key here; known are {', '.join(known)}."
        yield Fault(pointer(*at, key), message, nearest(str(key), known))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST and "\0" not in value
