"""agree: the agreement of a queue's annotators, and who may see it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User

from search.models import KnowledgeBase
from training.annotation.agreement_report import agreement_report
from training.models import AnnotationItem, AnnotationQueue, Assignment, GradesSeen, Judgement, Verdict
from training.models.annotation import COUNTED
from training.services.annotation.assign import assigned_people
from training.services.annotation.grades import SCALE, QueueGrades, read_grades

LEADS = "training.change_annotationqueue"
JUDGES = "training.add_judgement"


@dataclass(frozen=True)
class WaitingItem:
    """Items of a queue that somebody can still judge: of one person, and of others alone."""

    mine: int
    others: int


def may_lead(user: AbstractBaseUser | AnonymousUser, queue: AnnotationQueue) -> bool:
    """Return whether somebody may see the grades of others: who made the queue, and admins."""
    return user.is_authenticated and (queue.author_id == user.pk or bool(getattr(user, "has_perm")(LEADS)))  # noqa: B009


def still_judging(user: AbstractBaseUser | AnonymousUser, queue: AnnotationQueue) -> WaitingItem | None:
    """Return what a queue waits for if somebody judges in it, so that seeing others' grades would end its blindness.

    An item waits while fewer people than the overlap have judged it and somebody is left who could: an item that all of
    them have judged or skipped waits for nobody. None where the grades may be seen: the queue is closed, nothing waits,
    or this person takes no part.
    """
    if queue.state != AnnotationQueue.State.OPEN or user.pk is None:
        return None
    people = _people_of(queue)
    if user.pk not in people:
        return None
    people |= _could_judge(queue, people)
    counted: dict[int, int] = defaultdict(int)
    spoken: dict[int, set[int | None]] = defaultdict(set)
    said = Judgement.objects.filter(item__queue=queue, model="").exclude(verdict=Verdict.WITHDRAWN)
    for item, annotator, verdict in said.values_list("item_id", "annotator_id", "verdict"):
        spoken[item].add(annotator)
        counted[item] += verdict in COUNTED
    assigned = assigned_people(queue)
    open_items = queue.items.filter(state=AnnotationItem.State.OPEN).values_list("pk", flat=True)
    left = [
        (people & assigned[item] if item in assigned else people) - spoken[item]
        for item in open_items if counted[item] < queue.overlap
    ]  # fmt: skip
    mine, others = sum(user.pk in one for one in left), sum(bool(one) and user.pk not in one for one in left)
    return WaitingItem(mine, others) if mine or others else None


def note_look(user: AbstractBaseUser | AnonymousUser, queue: AnnotationQueue) -> None:
    """Remember that somebody sees the grades of others: their own from then on are not blind (`judge`)."""
    if user.pk is not None:
        GradesSeen.objects.get_or_create(queue=queue, user_id=user.pk)


def _people_of(queue: AnnotationQueue) -> set[int]:
    """Return the accounts that have judged in a queue, or were handed an item of it."""
    judged = Judgement.objects.filter(item__queue=queue, annotator__is_active=True).values_list("annotator_id")
    held = Assignment.objects.filter(item__queue=queue, annotator__is_active=True).values_list("annotator_id")
    return {one for (one,) in judged.union(held) if one is not None}


def _could_judge(queue: AnnotationQueue, people: set[int]) -> set[int]:
    """Return the other annotators who may open a queue. Those who may see every grade join only of their own will."""
    leading = User.objects.with_perm(LEADS, include_superusers=False)
    leads = set(leading.values_list("pk", flat=True)) | {queue.author_id} | people
    return {one.pk for one in able_to_judge(queue) if not one.is_superuser and one.pk not in leads}


def able_to_judge(queue: AnnotationQueue) -> list[User]:
    """Return the accounts that may judge in a queue, by name: the right, and a knowledge base that they may see."""
    bases = KnowledgeBase.objects.filter(pk=queue.knowledge_base_id)
    able = User.objects.with_perm(JUDGES).filter(is_active=True).order_by("username")
    return [one for one in able if bases & KnowledgeBase.objects.visible_to(one)]


def agreement_of(queue: AnnotationQueue, grades: QueueGrades | None = None) -> dict[str, Any]:
    """Return the agreement of a queue (`agreement_report`), over the grades that were given blind."""
    read = grades or read_grades(queue)
    return agreement_report(list(read.graders.values()), read.matrix(), read.final_of_people(), SCALE)
