"""What a file may hold, and what its columns may be used for."""

from __future__ import annotations

from search.ingest.manifest import FIELD_KINDS

VERSION = 1
"""Version of the mapping's JSON."""
ROLES = ("nodes", "edges", "ignore")
FIELD_USES = ("field", *FIELD_KINDS)
"""Uses of a column as a field (nodes) or a property (edges); `field` infers the kind from the values."""
NODE_USES = ("id", "type", "name", "aliases", "url", *FIELD_USES, "edge", "ignore")
EDGE_USES = ("source", "target", "relation", *FIELD_USES, "ignore")
USES = {"nodes": NODE_USES, "edges": EDGE_USES, "ignore": tuple(dict.fromkeys((*NODE_USES, *EDGE_USES)))}
"""Uses of columns by the role of their file."""
DELIMITERS = (",", ";", "\t", "|")
