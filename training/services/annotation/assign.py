"""assign: shares the items of a queue out among people by name, and tells how far each of them is."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from search.domain.errors import Fault, InvalidRequest
from training.models import AnnotationItem, AnnotationQueue, Assignment, Judgement, Verdict
from training.models.annotation import COUNTED

_A_BATCH = 2_000


@dataclass
class PersonProgress:
    """How far a person is in a queue. `assigned` counts the items assigned to them, `left` what they can still judge.

    `changed` is the time of their last judgement.
    """

    user: User
    assigned: int = 0
    graded: int = 0
    unsure: int = 0
    skipped: int = 0
    left: int = 0
    changed: datetime | None = None

    @property
    def judged(self) -> int:
        """The items that they have graded or called unsure."""
        return self.graded + self.unsure


@transaction.atomic
def share_out(queue: AnnotationQueue, people: Sequence[User]) -> None:
    """Assign what is still to be judged evenly to these people, as many for each item as its overlap says.

    What was judged stays as it is, and counts. Pairs of people are mixed by the queue's seed, so that each works with
    each. Without people the items are for everybody again. Raises InvalidRequest if the people are too few.
    """
    AnnotationQueue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    if 0 < len(people) < queue.overlap:
        message = f"Each item is judged by {queue.overlap} people, so choose at least {queue.overlap}."
        raise InvalidRequest([Fault("/people", message)])
    through = AnnotationItem.people.through
    through.objects.filter(annotationitem__queue=queue).delete()
    counted, spoken = _said(queue)
    drawn = random.Random(queue.seed)
    load: Counter[int] = Counter()
    rows = []
    for item in queue.items.filter(state=AnnotationItem.State.OPEN).order_by("position").values_list("pk", flat=True):
        order = [one.pk for one in people if one.pk not in spoken[item]]
        drawn.shuffle(order)
        places = max(0, queue.overlap - counted[item])
        chosen = sorted(order, key=lambda pk: load[pk])[:places]
        load.update(chosen)
        # Who has judged it counts as assigned, so that their share is what they have done and what is left.
        rows += [through(annotationitem_id=item, user_id=pk) for pk in (*chosen, *spoken[item]) if people]
    through.objects.bulk_create(rows, batch_size=_A_BATCH)
    # Nothing is held any more for those who are not meant to judge it; what they judge all the same is kept.
    for hold in Assignment.objects.filter(item__queue=queue, judged=False):
        if people and not through.objects.filter(annotationitem=hold.item_id, user=hold.annotator_id).exists():
            hold.expires = timezone.now()
            hold.save(update_fields=["expires"])


def pass_on(item: AnnotationItem) -> None:
    """Assign an item that somebody skipped to another person of its queue; with nobody left, it stays as it is."""
    assigned = assigned_people(item.queue)
    if item.pk not in assigned:
        return
    counted, spoken = _said(item.queue)
    load = Counter(pk for other, people in assigned.items() for pk in people - spoken[other])
    waiting = assigned[item.pk] - spoken[item.pk]
    free = set().union(*assigned.values()) - assigned[item.pk] - spoken[item.pk]
    if free and counted[item.pk] + len(waiting) < item.queue.overlap:
        item.people.add(min(free, key=lambda pk: (load[pk], pk)))


def assigned_people(queue: AnnotationQueue) -> dict[int, set[int]]:
    """Return item → the accounts to whom it is assigned; an item that is for everybody is not in it."""
    found: dict[int, set[int]] = defaultdict(set)
    rows = AnnotationItem.people.through.objects.filter(annotationitem__queue=queue)
    for item, user in rows.values_list("annotationitem_id", "user_id"):
        found[item].add(user)
    return dict(found)


def progress_of_people(queue: AnnotationQueue, people: Iterable[User]) -> list[PersonProgress]:
    """Return how far these people are, and whoever else has judged or is assigned, by name."""
    assigned = assigned_people(queue)
    counted, spoken = _said(queue)
    said = Judgement.objects.filter(item__queue=queue, annotator__isnull=False).exclude(verdict=Verdict.WITHDRAWN)
    known = {one.pk for one in people}.union(*assigned.values(), *spoken.values())
    found = {one.pk: PersonProgress(one) for one in User.objects.filter(pk__in=known).order_by("username")}
    for annotator, verdict, changed in said.values_list("annotator_id", "verdict", "changed"):
        one = found[annotator]
        one.graded += verdict == Verdict.GRADED
        one.unsure += verdict == Verdict.UNSURE
        one.skipped += verdict == Verdict.SKIPPED
        one.changed = max(changed, one.changed or changed)
    open_items = queue.items.filter(state=AnnotationItem.State.OPEN).values_list("pk", flat=True)
    for item in open_items:
        meant = assigned.get(item)
        for pk in meant or ():
            found[pk].assigned += 1
        if counted[item] < queue.overlap:
            for pk in (meant if meant is not None else set(found)) - spoken[item]:
                found[pk].left += 1
    return list(found.values())


def _said(queue: AnnotationQueue) -> tuple[Counter[int], dict[int, set[int]]]:
    """Return how many people have judged each item, and the accounts that have said anything about it."""
    counted: Counter[int] = Counter()
    spoken: dict[int, set[int]] = defaultdict(set)
    said = Judgement.objects.filter(item__queue=queue, model="").exclude(verdict=Verdict.WITHDRAWN)
    for item, annotator, verdict in said.values_list("item_id", "annotator_id", "verdict"):
        counted[item] += verdict in COUNTED
        if annotator is not None:
            spoken[item].add(annotator)
    return counted, spoken
