"""Names of a snapshot's parts in Neo4j, made from numbers, so that no text of a bundle is part of a query.

| in the snapshot | in Neo4j |
|---|---|
| a node | a node with the label of its snapshot (`S12`), the label of its type (`T4`), `key` and `id` |
| an edge | a relationship of the type of its relation (`R3`), in the stored direction |
| a field of a node or an edge | lists: `f2t`, its texts `folded`; `f2s`, its texts `ordered`; `f2n`, its numbers |
| the snapshot | a node `GraspProjection` with the snapshot's fingerprint and the state of the projection |

Codes are those of the schema. Fields of nodes and edges are numbered together in the order of their names; number 0 is
the node's name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from search.domain.graph import FieldValue, Node, Schema

MARKER = "GraspProjection"
NAME = "name"
INT64 = range(-(2**63), 2**63)
_HIGH = re.compile("[\ue000-\U0010ffff]")
_LATE, _LAST = "\ue000", "\ue001"


class Names:
    """Names for one snapshot, made from integers only."""

    def __init__(self, snapshot_id: int, schema: Schema) -> None:
        self.snapshot_id = snapshot_id
        self.schema = schema
        self.nodes = f"S{snapshot_id:d}"

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the snapshot's number and schema with counts; another installation's snapshot 12 has another hash."""
        content = json.dumps([self.snapshot_id, self.schema.to_json()], sort_keys=True)
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    @cached_property
    def _fields(self) -> dict[str, int]:
        names = {field.name for node_type in self.schema.node_types for field in node_type.fields}
        names |= {field.name for relation in self.schema.relations for field in relation.fields}
        return {NAME: 0} | {name: number for number, name in enumerate(sorted(names - {NAME}), 1)}

    def type(self, code: int) -> str:
        """Return the label of a node type."""
        return f"T{code:d}"

    def relation(self, code: int) -> str:
        """Return the relationship type of a relation."""
        return f"R{code:d}"

    def field(self, name: str) -> str | None:
        """Return the prefix of the properties of a field, or None for a field that no type has."""
        number = self._fields.get(name)
        return None if number is None else f"f{number:d}"

    def meaning(self, key: str) -> str:
        """Return the field's name for a property of Neo4j, or the property itself if it belongs to no field."""
        of_field = {f"f{code}{kind}": name for name, code in self._fields.items() for kind in "stn"}
        return of_field.get(key, key)

    def properties(self, node: Node) -> dict[str, Any]:
        """Return the properties that represent a node in Neo4j."""
        return {"key": node.key, "id": node.id, **self.values({**node.fields, NAME: node.name})}

    def values(self, fields: Mapping[str, FieldValue]) -> dict[str, Any]:
        """Return the properties that represent the fields of a node or an edge in Neo4j."""
        written: dict[str, Any] = {}
        for name, value in fields.items():
            if (prefix := self.field(name)) is None:
                continue
            items = value if isinstance(value, list) else [value]
            if texts := [item for item in items if isinstance(item, str)]:
                written[f"{prefix}s"] = [ordered(text) for text in texts]
                written[f"{prefix}t"] = [folded(text) for text in texts]
            if numbers := [number(item) for item in items if is_number(item)]:
                # Neo4j stores lists of integers or of floats, not mixed ones.
                whole = all(isinstance(item, int) for item in numbers)
                written[f"{prefix}n"] = numbers if whole else [float(item) for item in numbers]
        return written


def relation_code(relationship_type: str) -> int:
    """Return the code of a relation from its relationship type in Neo4j."""
    return int(relationship_type[1:])


def folded(text: str) -> str:
    """Return a text for comparison that ignores case, lowered letter by letter, as `lower` does in Postgres.

    Java and Python lower Σ by its position in the word, and İ to two letters.
    """
    if "Σ" not in text and "İ" not in text:
        return text.lower()
    return "".join("i" if letter == "İ" else letter.lower() for letter in text)


def ordered(text: str) -> str:
    """Return a text whose order in Java is the order of the original text by code points.

    Java compares 16-bit units, and the units of characters beyond U+FFFF (emoji) are smaller than U+E000 to U+FFFF.
    Characters of both ranges get a prefix that restores their order. Other texts are returned unchanged.
    """
    return _HIGH.sub(lambda letter: (_LAST if letter[0] > "\uffff" else _LATE) + letter[0], text)


def unordered(text: str) -> str:
    """Return the text that `ordered` was given."""
    return re.sub(f"[{_LATE}{_LAST}](.)", r"\1", text, flags=re.DOTALL)


def is_number(value: object) -> bool:
    """Whether a value is a number; booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value: Any) -> int | float:
    """Return a number that Neo4j can store: integers beyond 64 bits become floats."""
    return value if isinstance(value, float) or value in INT64 else float(value)
