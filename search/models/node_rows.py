"""A row of `search_node` as a Node."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from search.domain.graph import Node, Schema

NODE_COLUMNS = "key, id, type, name, aliases, url, fields"


def node_of(row: Sequence[Any], schema: Schema) -> Node:
    """Return the node of a row that holds `NODE_COLUMNS`; jsonb comes as text from Django's cursors.

    The fields stand in the order of the schema, which jsonb does not keep.
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
