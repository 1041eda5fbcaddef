"""find_nodes: the nodes whose name starts with what somebody has typed so far."""

from __future__ import annotations

from django.db.models import QuerySet
from django.db.models.functions import Collate, Left, Lower

from search.domain.errors import Fault, InvalidRequest
from search.models import Node, Release
from search.services.storable import storable_text

INDEXED = 200
"""Characters of a name that its index holds: `lower(left(name, 200)) COLLATE "C"`."""


def find_nodes(release: Release, prefix: str = "", node_type: str = "") -> QuerySet[Node]:
    """Return id, type and name of the nodes of a release whose name starts with `prefix`, whatever the case, by name.

    Raises InvalidRequest when the release has no such node type.
    """
    nodes = Node.objects.filter(snapshot_id=release.snapshot.pk)
    if node_type:
        codes = release.snapshot.schema.type_codes
        if node_type not in codes:
            message = f"There is no node type {node_type[:80]!r}. There are: {', '.join(codes)}."
            raise InvalidRequest([Fault("/type", storable_text(message))])
        nodes = nodes.filter(type=codes[node_type])
    begin = Collate(Lower(Left("name", INDEXED)), "C")
    wanted = storable_text(prefix).lower()[:INDEXED]
    found = nodes.annotate(begin=begin)
    return (found.filter(begin__startswith=wanted) if wanted else found).order_by("begin", "key")
