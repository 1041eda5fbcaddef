"""Reads a bundle's `kb.json`: the name of the knowledge base, its node types, and the wording of its relations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

import orjson

from search.domain.graph import FieldKind, NodeType, Relation
from search.ingest.faults import BundleError, RowFault
from search.ingest.text_formats import LONGEST_LINE

MANIFEST_FILE = "kb.json"
BASE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAME_RULE = "letters, digits, '.', '_' and '-', at most 100 of them, a letter or digit first"
MOST_CODES = 32_767
"""Most node types, and most relations, of a snapshot: their codes are 16-bit integers."""
LONGEST_ABOUT = {"title": 300, "description": None, "domain": 100, "language": 20, "licence": None, "source": None}
"""Descriptive key of `kb.json` → most characters that its database column holds (None: any number)."""
FIELD_KINDS: tuple[str, ...] = get_args(FieldKind)


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """A field declared in `kb.json`: its kind (None if it is to be inferred), whether it holds lists, and its unit."""

    kind: FieldKind | None = None
    many: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Manifest:
    """The content of `kb.json` without its counts, which are taken from the rows instead.

    With `open_types`, a node type that is not listed is added when its first node is read.
    """

    name: str
    about: dict[str, Any]
    language: str
    node_types: tuple[NodeType, ...]
    fields: Mapping[str, Mapping[str, DeclaredField]]
    relations: tuple[Relation, ...] = ()
    content: bytes = field(default=b"", repr=False)
    open_types: bool = False


def read_manifest(folder: Path) -> Manifest:
    """Read `kb.json`; BundleError with every fault if it cannot be used."""
    try:
        if (size := (folder / MANIFEST_FILE).stat().st_size) > LONGEST_LINE:
            raise BundleError(f"{MANIFEST_FILE} has {size >> 20:,} MB; at most {LONGEST_LINE >> 20} MB are read.")
        content = (folder / MANIFEST_FILE).read_bytes()
    except FileNotFoundError as error:
        raise BundleError(f"{folder} has no {MANIFEST_FILE}, so it is no bundle of a knowledge base.") from error
    except PermissionError as error:
        raise BundleError(f"{folder / MANIFEST_FILE} may not be read by this user.") from error
    try:
        data = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise BundleError(f"{MANIFEST_FILE} is not valid JSON: {error}.") from error
    return parse_manifest(data, content)


def parse_manifest(data: Any, content: bytes, *, open_types: bool = False) -> Manifest:
    """Return the manifest from the parsed JSON; `content` is the text that the import's hash covers.

    With `open_types`, node types need not be listed. Raises BundleError with every fault if it cannot be used.
    """
    if open_types and isinstance(data, dict):
        data = {**data, "node_types": data.get("node_types") or {}}
    faults = list(_faults(data, open_types))
    if faults:
        messages = [RowFault(MANIFEST_FILE, 0, "bad_manifest", message) for message in faults]
        raise BundleError(f"{MANIFEST_FILE} cannot be used: {' '.join(faults[:5])}", messages)
    answerable = data.get("answerable")
    types = tuple(_node_type(name, given or {}, answerable) for name, given in data["node_types"].items())
    return Manifest(
        name=data["name"],
        about={key: data[key] for key in LONGEST_ABOUT if data.get(key)} | {"examples": _examples(data)},
        language=data.get("language") or "en",
        node_types=types,
        fields={name: _fields((given or {}).get("fields") or {}) for name, given in data["node_types"].items()},
        relations=_relations(data),
        content=content,
        open_types=open_types,
    )


def _faults(data: object, open_types: bool) -> Iterator[str]:
    if not isinstance(data, dict):
        yield "Expected one JSON object."
        return
    if not isinstance(data.get("name"), str) or not BASE_NAME.fullmatch(data["name"]):
        yield f"'name' has to be {NAME_RULE}."
    for key, longest in LONGEST_ABOUT.items():
        value = data.get(key) or ""
        if not isinstance(value, str) or "\0" in value:
            yield f"'{key}' has to be text."
        elif longest is not None and len(value) > longest:
            yield f"'{key}' has {len(value)} characters, at most {longest} are allowed."
    types = data.get("node_types")
    if not isinstance(types, dict) or not (types or open_types):
        yield "'node_types' has to be an object with one entry a type."
        return
    if len(types) > MOST_CODES:
        yield f"{len(types)} types are too many; {MOST_CODES} at most."
    for name, given in types.items():
        yield from _faults_of_type(name, given)
    yield from _faults_of_relations(data, None if open_types else types)


def _faults_of_type(name: str, given: object) -> Iterator[str]:
    if not name.strip() or "\0" in name:
        yield "A type has no name, or one with a NUL character."
    if not isinstance(given, dict | None):
        yield f"The type '{name}' has to be an object."
        return
    fields = (given or {}).get("fields") or {}
    if not isinstance(fields, dict):
        yield f"The 'fields' of the type '{name}' have to be an object with one entry a field."
        return
    for field_name, declared in fields.items():
        kind = declared.get("type") if isinstance(declared, dict) else declared
        if isinstance(kind, str) and kind not in FIELD_KINDS:
            yield f"Field '{field_name}' of '{name}' has the unknown type '{kind}'; known are {', '.join(FIELD_KINDS)}."
        if isinstance(declared, dict) and not isinstance(declared.get("unit", ""), str):
            yield f"The 'unit' of field '{field_name}' of '{name}' has to be a text such as 'EUR' or 'kg'."
    if not _texts((given or {}).get("aliases")):
        yield f"The 'aliases' of the type '{name}' have to be a list of texts."


def _faults_of_relations(data: dict[str, Any], types: dict[str, Any] | None) -> Iterator[str]:
    listed = data.get("relation_types") or []
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        yield "'relation_types' has to be a list of objects with source, relation and target."
        return
    for position, entry in enumerate(listed):
        if not isinstance(entry.get("relation"), str) or not entry["relation"].strip():
            yield f"relation_types[{position}] names no relation."
        for end in ("source", "target"):
            if types is not None and end in entry and entry[end] not in types:
                yield f"relation_types[{position}] has the unknown type '{entry[end]}' as its {end}."
        if not _texts(entry.get("aliases")):
            yield f"The 'aliases' of relation_types[{position}] have to be a list of texts."


def _texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _examples(data: dict[str, Any]) -> list[str]:
    return [example for example in data.get("examples") or [] if isinstance(example, str)]


def _node_type(name: str, given: dict[str, Any], answerable: list[str] | None) -> NodeType:
    listed = True if answerable is None else name in answerable
    return NodeType(
        name=name,
        answerable=bool(given.get("answerable", listed)),
        aliases=tuple(given.get("aliases") or ()),
        description=str(given.get("description") or ""),
        hidden=bool(given.get("hidden", False)),
    )


def _fields(given: dict[str, Any]) -> dict[str, DeclaredField]:
    """Return the declared fields of a type.

    In `kb.json`, a number is a coverage and declares no kind, a text is a kind, and an object may have both.
    """
    declared = {}
    for name, value in given.items():
        kind = value.get("type") if isinstance(value, dict) else value
        many = isinstance(value, dict) and bool(value.get("list"))
        unit = value.get("unit") if isinstance(value, dict) else ""
        declared[name] = DeclaredField(cast(FieldKind, kind) if isinstance(kind, str) else None, many, unit or "")
    return declared


def _relations(data: dict[str, Any]) -> tuple[Relation, ...]:
    """Merge the entries of each relation: the first wording given, and all aliases."""
    relations: dict[str, Relation] = {}
    for entry in data.get("relation_types") or []:
        known = relations.get(entry["relation"], Relation(entry["relation"]))
        relations[known.name] = replace(
            known,
            description=known.description or str(entry.get("description") or ""),
            inverse=known.inverse or str(entry.get("inverse") or ""),
            aliases=tuple(dict.fromkeys([*known.aliases, *(entry.get("aliases") or ())])),
        )
    return tuple(relations.values())
