"""collections: make, name, share and delete collections of results, for their owner."""

from __future__ import annotations

import secrets
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from search.domain.errors import Fault, InvalidRequest
from search.models import Collection, CollectionItem, KnowledgeBase
from search.services.access.visitors import User, Visitor, person_columns
from search.services.collections.edits import check_seen
from search.services.collections.people import keeper, text_faults

MOST_COLLECTIONS = 100


def own_collections(user: User, visitor: Visitor) -> QuerySet[Collection]:
    """Return a person's collections, the one changed last first, each with its number of items as `size`."""
    person = person_columns(user, visitor)
    own = Collection.objects.filter(**person) if person else Collection.objects.none()
    return own.annotate(size=Count("items", filter=Q(items__removed=None))).order_by("-changed", "pk")


def shared_collection(key: str) -> Collection | None:
    """Return the collection with this key in its link, None if no collection is shared by it."""
    return Collection.objects.filter(key=key).first() if key and "\x00" not in key else None


def readable_items(collection: Collection, user: User, visitor: Visitor) -> QuerySet[CollectionItem]:
    """Return the items that a reader may see: those of knowledge bases that the reader may search, in their order.

    Items of knowledge bases that were deleted are shown to nobody but their owner, because nothing says any more who
    might see them.
    """
    items = collection.items.filter(removed=None)
    seen = Q(knowledge_base__in=KnowledgeBase.objects.visible_to(user).values("pk"))
    person = person_columns(user, visitor)
    owner = bool(person) and all(getattr(collection, column) == value for column, value in person.items())
    return items.filter(seen | Q(knowledge_base=None) if owner else seen)


def make_collection(*, name: str, user: User, visitor: Visitor, note: str = "") -> Collection:
    """Make a collection with a name, and return it. A name that the person has already is the same collection.

    Raises InvalidRequest, NotAllowed, and NotNow.
    """
    person = keeper(user, visitor)
    faults = text_faults(name, note)
    own = Collection.objects.filter(**person)
    there = None if faults else own.filter(name=name.strip()).first()
    if there is not None:
        return there
    if not faults and own.count() >= MOST_COLLECTIONS:
        faults = [Fault("/name", f"One person keeps at most {MOST_COLLECTIONS} collections; delete one first.")]
    if faults:
        raise InvalidRequest(faults)
    return Collection.objects.create(name=name.strip(), note=note.strip(), **person)


def rename_collection(
    collection: Collection, *, name: object, note: object, user: User, visitor: Visitor, seen: str = ""
) -> None:
    """Give a collection of the caller another name and note. Raises InvalidRequest and NotNow.

    `seen` is the mark of the name and note that the caller has seen (`check_seen`).
    """
    person = keeper(user, visitor)
    faults = text_faults(name, note)
    if not faults and Collection.objects.filter(**person, name=str(name).strip()).exclude(pk=collection.pk).exists():
        faults = [Fault("/name", "You have another collection of this name.")]
    if faults:
        raise InvalidRequest(faults)
    check_seen(seen, (collection.name, collection.note), (str(name).strip(), str(note).strip()))
    collection.name, collection.note = str(name).strip(), str(note).strip()
    collection.save(update_fields=["name", "note", "changed"])


def share_collection(collection: Collection, shared: bool) -> None:
    """Give a collection a link that others may read it by, or take the link back; a new link has another key."""
    if shared != bool(collection.key):
        collection.key = secrets.token_urlsafe(18) if shared else ""
        collection.save(update_fields=["key", "changed"])


def find_own(collection_id: UUID, user: User, visitor: Visitor) -> Collection | None:
    """Return a collection of the caller by its id, None if it does not exist or is somebody else's."""
    return own_collections(user, visitor).filter(pk=collection_id).first()
