"""find_nodes, complete_name: the nodes whose name continues the text that a person has typed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from django.db.models import QuerySet
from django.db.models.functions import Collate, Left, Lower

from search.adapters.completion_memmap import MemmapCompletion
from search.domain.errors import Fault, InvalidRequest
from search.ingest.index import version_of
from search.models import Node, Release
from search.models.node_rows import INDEXED
from search.services.searches.storable import storable_text

COMPLETION = "completion"
"""The part of a snapshot's index files that completes names."""


def find_nodes(release: Release, prefix: str = "", node_type: str = "") -> QuerySet[Node]:
    """Return id, type and name of the nodes whose name starts with `prefix`, ignoring case, sorted by name.

    Raises InvalidRequest if the release has no such node type.
    """
    nodes = Node.objects.filter(snapshot_id=release.snapshot.pk)
    code = _code(release, node_type)
    if code is not None:
        nodes = nodes.filter(type=code)
    begin = Collate(Lower(Left("name", INDEXED)), "C")
    wanted = storable_text(prefix).lower()[:INDEXED]
    found = nodes.annotate(begin=begin)
    return (found.filter(begin__startswith=wanted) if wanted else found).order_by("begin", "key")


def _code(release: Release, node_type: str) -> int | None:
    """Return the code of a node type, or None for any type."""
    if not node_type:
        return None
    codes = release.snapshot.schema.type_codes
    if node_type not in codes:
        message = f"There is no type {node_type[:80]!r}. There are: {', '.join(codes)}."
        raise InvalidRequest([Fault("/type", storable_text(message))])
    return codes[node_type]


def complete_name(release: Release, text: str, limit: int, node_type: str = "", *, inside: bool = True) -> list[Node]:
    """Return at most `limit` nodes with a name or alias that begins with `text`, then those in which a word does.

    Case, accents and punctuation are ignored; with `inside` False, only names that begin with `text` are returned. A
    snapshot without completion files is searched in the database by the beginning of names only, ignoring case. Raises
    InvalidRequest if the release has no such node type.
    """
    directory = release.snapshot.directory
    if version_of(directory / COMPLETION) is None:
        return list(find_nodes(release, text, node_type)[:limit]) if text.strip() else []
    code = _code(release, node_type)
    index = _opened(directory, (directory / COMPLETION).stat().st_mtime_ns)
    keys = (index.contains if inside else index.begins)(text[:INDEXED], limit, code)
    found = {node.key: node for node in Node.objects.filter(snapshot_id=release.snapshot.pk, key__in=keys)}
    return [found[key] for key in keys]


@lru_cache(maxsize=16)
def _opened(directory: Path, built: int) -> MemmapCompletion:
    """Return the completion index of a snapshot; `built`, the time of the build, makes a rebuilt index a new entry."""
    types = np.load(directory / "nodes" / "types.npy", mmap_mode="r").view(np.ndarray)
    return MemmapCompletion(directory / COMPLETION, types)
