"""Converts rows of `search_node` into nodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from search.domain.graph import Node, Schema

INDEXED = 200
"""Characters of a name in the database index: `lower(left(name, 200)) COLLATE "C"`."""
NODE_COLUMNS = "key, id, type, name, aliases, url, fields"


def node_of(row: Sequence[Any], schema: Schema) -> Node:
    """Return the node of a row with the columns `NODE_COLUMNS`; Django's cursors return jsonb as text.

    The fields are in the order of the schema, because jsonb does not keep an order.
    """
    key, node_id, code, name, aliases, url, stored = row
    values = json.loads(stored) if isinstance(stored, str) else stored
    node_type = schema.node_types[code]
    fields = {field.name: values.pop(field.name) for field in node_type.fields if field.name in values} | values
    return Node(
        key=key,
        id=node_id,
        type=node_type.name,
        name=name,
        aliases=tuple(aliases),
        url=url,
        fields=fields,
    )
