"""Kinds of vectors: which text of a node a vector was made of.

| kind | text |
|---|---|
| `name` | name and aliases |
| `document` | type, name, aliases and fields |
| `document+relations` | the same, and the names of neighbours |
| `field:<name>` | one field |
| `relation:<name>` | the names of the neighbours over one relation, whichever way it points |
| `chunk` | stretches of the document; a node has as many vectors as its document has stretches |
"""

from __future__ import annotations

from collections.abc import Iterable

from search.domain.errors import Fault, InvalidRequest
from search.domain.graph import Schema

NAME = "name"
DOCUMENT = "document"
WHOLE = "document+relations"
CHUNK = "chunk"
FIELD, RELATION = "field:", "relation:"

USUAL = (NAME, WHOLE)
"""Every vector set has these: linking, text retrieval and cosines of given nodes read them."""


def field_kind(name: str) -> str:
    """Return the kind of the vectors of a field."""
    return f"{FIELD}{name}"


def relation_kind(name: str) -> str:
    """Return the kind of the vectors of a relation's neighbours."""
    return f"{RELATION}{name}"


def checked(kinds: Iterable[str], schema: Schema) -> tuple[str, ...]:
    """Return the kinds that a vector set of this schema gets: the usual ones, then these, each once.

    Raises InvalidRequest with a fault for every kind that is none, and for a field or relation that there is not.
    """
    fields = {field.name for node_type in schema.node_types for field in node_type.fields}
    relations = {relation.name for relation in schema.relations}
    wanted = tuple(dict.fromkeys([*USUAL, *kinds]))
    faults = [Fault("/kinds", problem) for kind in wanted if (problem := _problem(kind, fields, relations))]
    if faults:
        raise InvalidRequest(faults)
    return wanted


def _problem(kind: str, fields: set[str], relations: set[str]) -> str:
    """Say what is wrong with a kind, or return an empty string."""
    if kind in (NAME, DOCUMENT, WHOLE, CHUNK):
        return ""
    for prefix, known, what in ((FIELD, fields, "field"), (RELATION, relations, "relation")):
        if kind.startswith(prefix):
            name = kind.removeprefix(prefix)
            there = ", ".join(sorted(known)) or "none"
            return "" if name in known else f"{kind!r}: there is no {what} {name!r}; there are: {there}."
    return (
        f"{kind!r} is no kind of vectors; there are: {NAME}, {DOCUMENT}, {WHOLE}, {CHUNK}, {FIELD}<name>, "
        f"{RELATION}<name>."
    )
