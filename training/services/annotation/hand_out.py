"""hand_out: gives items of a queue to annotators, so that each is judged by as many people as its overlap says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from training.models import AnnotationItem, AnnotationQueue, Assignment, Judgement, Verdict
from training.models.annotation import COUNTED
from training.services.annotation.show_item import fill_shown

LEASE = timedelta(minutes=30)
"""How long an item is held for somebody who has gone away; each request of their page begins it anew."""
MOST_AT_ONCE = 20


@dataclass(frozen=True)
class Handed:
    """What a tab holds now, in the order of the queue, and what a person holds in other tabs and browsers."""

    items: tuple[AnnotationItem, ...]
    elsewhere: int = 0
    retired: tuple[str, ...] = ()


def hand_out(
    *, queue: AnnotationQueue, user: User, tab: UUID, number: int, take_over: bool = False
) -> Handed:  # fmt: skip
    """Return what this tab holds of a queue, topped up to `number` items, and hold all of it for `LEASE` from now.

    Nothing is handed out that the user has judged or skipped, that another tab of theirs holds (unless `take_over`
    gives all of that to this tab), or whose places are all taken. A closed queue hands out nothing new.
    """
    number = max(0, min(number, MOST_AT_ONCE))
    retired: list[str] = []
    while True:
        held = _held(queue, user, tab, number, take_over)
        bad = [one for one in held if not fill_shown(one)]
        if not bad:
            break
        Assignment.objects.filter(item__in=bad, annotator=user).delete()
        retired += [one.reason for one in bad]
    others = _of(queue, user).filter(expires__gt=timezone.now()).exclude(tab=tab).count()
    return Handed(tuple(held), others, tuple(dict.fromkeys(retired)))


@transaction.atomic
def _held(queue: AnnotationQueue, user: User, tab: UUID, number: int, take_over: bool) -> list[AnnotationItem]:
    """Renew and top up what a tab holds. The lock on the queue makes counting places and taking one a single step."""
    locked = AnnotationQueue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    now = timezone.now()
    own = _of(queue, user)
    if take_over:
        own.filter(expires__gt=now).update(tab=tab, expires=now + LEASE)
    own.filter(tab=tab, expires__gt=now).update(expires=now + LEASE)
    held = own.filter(tab=tab, expires__gt=now).count()
    if locked.state == AnnotationQueue.State.OPEN and held < number:
        _give(free_items(locked, user, now)[: number - held], user, tab, now)
    items = AnnotationItem.objects.filter(
        assignments__annotator=user, assignments__tab=tab, assignments__judged=False, assignments__expires__gt=now,
        queue=queue,
    )  # fmt: skip
    return list(items.select_related("queue__release__snapshot", "queue__release__knowledge_base").order_by("position"))


def free_items(queue: AnnotationQueue, user: User, now: datetime) -> QuerySet[AnnotationItem]:
    """Return the items that have a place for this person, in their order: those assigned to them, or to nobody."""
    said = Judgement.objects.filter(item=OuterRef("pk"), annotator=user).exclude(verdict=Verdict.WITHDRAWN)
    mine = Assignment.objects.filter(item=OuterRef("pk"), annotator=user, judged=False, expires__gt=now)
    return (
        with_places(AnnotationItem.objects.filter(queue=queue, state=AnnotationItem.State.OPEN), now)
        .filter(for_person(user), ~Exists(said), ~Exists(mine), taken__lt=queue.overlap)
        .order_by("position")
    )


def for_person(user: User) -> Q:
    """Return the condition that an item is assigned to this person, or to nobody."""
    assigned = AnnotationItem.people.through.objects.filter(annotationitem=OuterRef("pk"))
    return Q(~Exists(assigned)) | Q(Exists(assigned.filter(user=user.pk)))


def with_places(items: QuerySet[AnnotationItem], now: datetime) -> QuerySet[Any]:
    """Annotate items with `done`, the people who judged them, and `taken`, those and the people who hold them now."""
    judged = Judgement.objects.filter(item=OuterRef("pk"), model="", verdict__in=COUNTED)
    holding = Assignment.objects.filter(item=OuterRef("pk"), judged=False, expires__gt=now)
    return items.annotate(done=_counted(judged), holding=_counted(holding)).annotate(taken=F("done") + F("holding"))


def _counted(rows: QuerySet) -> Coalesce:
    counted = rows.order_by().values("item").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _of(queue: AnnotationQueue, user: User) -> QuerySet[Assignment]:
    return Assignment.objects.filter(item__queue=queue, annotator=user, judged=False)


def _give(items: Sequence[AnnotationItem] | QuerySet[AnnotationItem], user: User, tab: UUID, now: datetime) -> None:
    """Hold these items for a tab; a hold that has expired, or a judgement that was withdrawn, is begun anew."""
    for item in items:
        Assignment.objects.update_or_create(
            item=item, annotator=user, defaults={"tab": tab, "expires": now + LEASE, "judged": False}
        )
