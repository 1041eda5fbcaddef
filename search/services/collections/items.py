"""items: put results into a collection, write notes on them, order them, remove them and put them back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from search.domain.errors import Fault, InvalidRequest
from search.models import Collection, CollectionItem, KnowledgeBase, Node, SearchRun
from search.services.access.visitors import User, Visitor
from search.services.collections.edits import check_seen
from search.services.collections.people import keeper, text_faults
from search.services.searches.describe_search import outputs_of
from search.text import path_text

MOST_ITEMS = 1_000
KEPT_REMOVED = timedelta(days=1)
"""How long a removal can be undone."""
LONGEST_EVIDENCE = 600


@dataclass(frozen=True, slots=True)
class FoundItems:
    """What is stored of a node: how it is called, and with which rank and evidence a search found it."""

    type: str
    name: str
    rank: int | None = None
    evidence: str = ""


def add_item(
    collection: Collection,
    *,
    base: KnowledgeBase,
    node: str,
    run: SearchRun | None = None,
    note: str = "",
    user: User,
    visitor: Visitor,
) -> tuple[CollectionItem, bool]:
    """Put a node into a collection of the caller; return its item, and whether it is new there.

    With `run` it has to be a result of this search. A node that is there already stays as it is; one that was removed
    comes back to its place. Raises InvalidRequest and NotNow.
    """
    keeper(user, visitor)
    faults = text_faults("", note, named=False)
    found = None if faults else _result(run, node) if run is not None else _entity(base, node)
    if not faults and found is None:
        what = "is not a result of this search" if run is not None else f"is not an entity of {base.name}"
        faults = [Fault("/node", f"{node[:80]!r} {what}, so it cannot be collected.")]
    if faults or found is None:
        raise InvalidRequest(faults)
    with transaction.atomic():
        # The lock orders requests at the same moment, so that each item gets a place of its own.
        Collection.objects.select_for_update().get(pk=collection.pk)
        item = collection.items.filter(knowledge_base_name=base.name, node_id=node).first()
        if item is not None and item.removed is None:
            return item, False
        if collection.items.filter(removed=None).count() >= MOST_ITEMS:
            raise InvalidRequest([Fault("", f"A collection holds at most {MOST_ITEMS:,} results; begin another one.")])
        item = item or CollectionItem(
            collection=collection, knowledge_base_name=base.name, node_id=node, position=_end(collection)
        )
        item.knowledge_base, item.removed = base, None
        item.node_type, item.node_name, item.rank, item.evidence = found.type, found.name, found.rank, found.evidence
        item.run, item.question = (run.pk, run.question) if run is not None else (None, "")
        item.note = note.strip() or item.note
        item.save()
        collection.save(update_fields=["changed"])
    return item, True


def write_note(item: CollectionItem, note: object, *, user: User, visitor: Visitor, seen: str = "") -> None:
    """Replace the note of an item in a collection of the caller. Raises InvalidRequest and NotNow."""
    keeper(user, visitor)
    if faults := text_faults("", note, named=False):
        raise InvalidRequest(faults)
    check_seen(seen, (item.note,), (str(note).strip(),))
    item.note = str(note).strip()
    item.save(update_fields=["note"])


def remove_item(item: CollectionItem) -> None:
    """Remove an item from its collection; `restore_item` puts it back within a day."""
    item.removed = timezone.now()
    item.save(update_fields=["removed"])


def restore_item(item: CollectionItem) -> None:
    """Put a removed item back to its place."""
    item.removed = None
    item.save(update_fields=["removed"])


def move_item(item: CollectionItem, place: int) -> None:
    """Move an item to a place of its collection, from 1; places beyond the ends mean the ends."""
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=item.collection_id)
        order = list(item.collection.items.filter(removed=None).exclude(pk=item.pk))
        order.insert(max(0, min(place - 1, len(order))), item)
        for position, one in enumerate(order, 1):
            one.position = position
        CollectionItem.objects.bulk_update(order, ["position"])


def delete_removed_items() -> int:
    """Delete the items whose removal can be undone no more, and return how many these were."""
    return CollectionItem.objects.filter(removed__lt=timezone.now() - KEPT_REMOVED).delete()[0]


def _end(collection: Collection) -> int:
    return (collection.items.aggregate(last=Max("position"))["last"] or 0) + 1


def _result(run: SearchRun, node: str) -> FoundItems | None:
    """Return the result of a search with this id; its evidence is its first path, or else its snippet."""
    for result in outputs_of(run.steps.all()).results.entries:
        if result.node.id == node:
            shown = result.to_json()
            paths = (shown["evidence"] or {}).get("paths", ())
            evidence = path_text(paths[0]) if paths else shown["snippet"]
            return FoundItems(result.node.type, result.node.name, result.rank, evidence[:LONGEST_EVIDENCE])
    return None


def _entity(base: KnowledgeBase, node: str) -> FoundItems | None:
    release = base.active_release
    if release is None or "\x00" in node:
        return None
    row = Node.objects.filter(snapshot_id=release.snapshot_id, id=node).first()
    return FoundItems(release.snapshot.schema.node_types[row.type].name, row.name) if row is not None else None
