"""unknown_ids, nearest_id: which ids a release does not have, and which of its ids was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import QuerySet
from django.db.models.functions import Collate, Left, Lower

from search.domain.errors import nearest
from search.domain.unstorable import storable
from search.models import Node, Release
from search.models.node_rows import INDEXED

ASKED_AT_ONCE = 5_000
BESIDE = 20
"""Ids before and behind a faulty one, in their order, that are compared with it."""
SMALL = 2_000
"""Releases up to this number of nodes have all their ids compared."""


def unknown_ids(release: Release, ids: Iterable[str]) -> set[str]:
    """Return the ids that no node of the release has."""
    wanted = list(dict.fromkeys(ids))
    known: set[str] = set()
    for start in range(0, len(wanted), ASKED_AT_ONCE):
        asked = [one for one in wanted[start : start + ASKED_AT_ONCE] if storable(one)]
        known.update(_nodes(release).filter(id__in=asked).values_list("id", flat=True))
    return set(wanted) - known


def nearest_id(release: Release, faulty: str) -> str | None:
    """Return the id of the release that is most similar to an unknown one, or None if none is similar.

    A node whose name is the faulty id comes first, because people take names for ids; then the id behind `type:`,
    because only ids that two types share have their type in front.
    """
    if not storable(faulty):
        return None
    named = _nodes(release).annotate(begin=Collate(Lower(Left("name", INDEXED)), "C"))
    by_name = named.filter(begin=faulty.lower()[:INDEXED]).order_by("key").values_list("id", flat=True).first()
    _, typed, bare = faulty.partition(":")
    if not by_name and typed and _nodes(release).filter(id=bare).exists():
        return bare
    return by_name or nearest(faulty, _ids_beside(release, faulty))


def _ids_beside(release: Release, faulty: str) -> Sequence[str]:
    """Return the ids that can be meant: all of a small release, otherwise those next to the faulty one in order."""
    nodes = _nodes(release)
    if release.snapshot.nodes <= SMALL:
        return list(nodes.order_by("id").values_list("id", flat=True)[:SMALL])
    after = nodes.filter(id__gte=faulty).order_by("id").values_list("id", flat=True)[:BESIDE]
    before = nodes.filter(id__lte=faulty).order_by("-id").values_list("id", flat=True)[:BESIDE]
    return [*before, *after]


def _nodes(release: Release) -> QuerySet[Node]:
    return Node.objects.filter(snapshot_id=release.snapshot.pk)
