"""A row of `search_node` as a Node."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from search.domain.graph import Node, Schema

NODE_COLUMNS = "key, id, type, name, aliases, url, fields"


def node_of(row: Sequence[Any], schema: Schema) -> Node:
    """Return the node of a row that holds `NODE_COLUMNS`; jsonb comes as text from Django's cursors."""
    key, node_id, code, name, aliases, url, fields = row
    return Node(
        key=key,
        id=node_id,
        type=schema.node_types[code].name,
        name=name,
        aliases=tuple(aliases),
        url=url,
        fields=json.loads(fields) if isinstance(fields, str) else fields,
    )
