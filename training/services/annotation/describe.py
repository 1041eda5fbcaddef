"""describe: queues, items and judgements as API and pages show them; items stay blind until they are judged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone

from search.models.knowledge import BuildStatus
from search.services.access.visitors import User as Anybody
from training.annotation.guidelines import GRADES
from training.evaluation.lost.stages import LostStage
from training.models import AnnotationItem, AnnotationQueue, Assignment, FailureCause, Judgement, Verdict
from training.models.annotation import COUNTED
from training.services.annotation.hand_out import for_person, with_places
from training.services.annotation.show_item import EVIDENCE, blind


def list_queues(user: Anybody) -> QuerySet[AnnotationQueue]:
    """Return the queues that a user may see, open ones first, then the newest first."""
    return AnnotationQueue.objects.visible_to(user).select_related("knowledge_base", "release").order_by(
        "-state", "-created"
    )  # fmt: skip


def find_queue(queue_id: int, user: Anybody) -> AnnotationQueue | None:
    """Return a queue that a user may see, or None."""
    return list_queues(user).filter(pk=queue_id).first() if queue_id < 2**63 else None


def find_item(item_id: int, user: Anybody) -> AnnotationItem | None:
    """Return an item of a queue that a user may see, or None."""
    if item_id >= 2**63:
        return None
    return AnnotationItem.objects.filter(pk=item_id, queue__in=AnnotationQueue.objects.visible_to(user)).first()


def progress_of(queue: AnnotationQueue, user: User) -> dict[str, int]:
    """Return the items of a queue, how many are done, retired, and what this person has said about how many.

    An item is done when as many people have judged it as the overlap says. `left` counts what this person could still
    be handed, now or when others go away; `assigned` what was assigned to them by name, `mine` or not.
    """
    items = AnnotationItem.objects.filter(queue=queue)
    open_items = with_places(items.filter(state=AnnotationItem.State.OPEN), timezone.now())
    mine = Judgement.objects.filter(item__queue=queue, annotator=user).exclude(verdict=Verdict.WITHDRAWN)
    done = open_items.filter(done__gte=queue.overlap)
    left = open_items.filter(for_person(user), done__lt=queue.overlap).exclude(pk__in=mine.values("item"))
    return {
        "items": queue.items_count,
        "done": done.count(),
        "retired": items.filter(state=AnnotationItem.State.RETIRED).count(),
        "mine": mine.filter(verdict__in=COUNTED).count(),
        "skipped": mine.filter(verdict=Verdict.SKIPPED).count(),
        "left": left.count(),
        "assigned": items.filter(people=user).count(),
    }


def describe_queue(queue: AnnotationQueue, user: User) -> dict[str, Any]:
    """Return a queue as annotators see it: neither its rule's arguments nor its pipelines."""
    return {
        "id": queue.pk,
        "name": queue.name,
        "knowledge_base": queue.knowledge_base.name,
        "state": queue.state,
        "overlap": queue.overlap,
        "guideline": queue.guideline,
        "progress": progress_of(queue, user),
    }


def vocabulary() -> dict[str, Any]:
    """Return grades, causes and stages with their words."""
    return {
        "grades": [{"grade": grade, "meaning": GRADES[grade]} for grade in sorted(GRADES)],
        "causes": [{"value": value, "label": str(label)} for value, label in FailureCause.choices],
        "stages": [{"value": stage.value, "label": stage.heading} for stage in LostStage],
    }


def describe_item(item: AnnotationItem, user: User) -> dict[str, Any]:
    """Return an item for the person who holds it; `revision` is that of their own judgement, 0 without one."""
    said = Judgement.objects.filter(item=item, annotator=user).first()
    return {
        "id": item.pk,
        "queue": item.queue_id,
        "question": item.question,
        "candidate": blind(item.shown),
        "revision": said.revision if said else 0,
        "notice": dropped_notice(item.queue),
    }


def dropped_notice(queue: AnnotationQueue) -> str:
    """Return a sentence if the release of a queue has been dropped, else nothing."""
    if queue.release is not None and queue.release.status == BuildStatus.READY:
        return ""
    return (
        f"The release {queue.release_name} has been dropped since this queue was made. You see the copy that was kept, "
        "and your judgement is kept with it."
    )


def describe_judgement(judgement: Judgement) -> dict[str, Any]:
    """Return a person's own judgement."""
    return {
        "item": judgement.item_id,
        "revision": judgement.revision,
        "verdict": judgement.verdict,
        "grade": judgement.grade,
        "cause": judgement.cause,
        "stage": judgement.stage,
        "note": judgement.note,
        "expected": judgement.expected,
        "informed": judgement.informed,
        "changed": judgement.changed.isoformat(),
    }


def own_judgements(queue: AnnotationQueue, user: User) -> QuerySet[Judgement]:
    """Return what a person has said about the items of a queue, the newest first."""
    mine = Judgement.objects.filter(item__queue=queue, annotator=user).exclude(verdict=Verdict.WITHDRAWN)
    return mine.order_by("-changed", "-pk")


def evidence_of(item: AnnotationItem, user: User) -> dict[str, Any] | None:
    """Return the conditions and paths that the search found of a candidate, None before the person has judged it."""
    if not _opened(item, user):
        return None
    kept = item.shown or {}
    return {"item": item.pk} | {name: kept.get(name, empty) for name, empty in EVIDENCE.items()}


def reveal(item: AnnotationItem, user: User) -> dict[str, Any] | None:
    """Return where each pipeline ranked the candidate and what others said, None before the person has judged it."""
    if not _opened(item, user):
        return None
    peers = Judgement.objects.filter(item=item, verdict__in=COUNTED).filter(~Q(annotator=user) | Q(annotator=None))
    return {
        "item": item.pk,
        "reason": item.origin.get("reason", ""),
        "known_answer": item.node_id in item.answers if item.answers else None,
        "pipelines": [
            {"pipeline": label, "rank": place.get("rank"), "score": place.get("score")}
            for label, place in item.origin.get("pipelines", {}).items()
        ],
        "judgements": [
            {"by": one.annotator_name, "model": bool(one.model), "verdict": one.verdict, "grade": one.grade,
             "note": one.note}
            for one in peers.order_by("created")
        ],
    }  # fmt: skip


def _opened(item: AnnotationItem, user: User) -> bool:
    """Return whether somebody has judged an item, so that what was hidden of it is shown.

    That they have seen it is kept: a grade that they change afterwards counts as informed.
    """
    judged = Judgement.objects.filter(item=item, annotator=user, verdict__in=COUNTED).exists()
    if judged:
        Assignment.objects.filter(item=item, annotator=user, revealed=None).update(revealed=timezone.now())
    return judged


def lease_sentence(elsewhere: int, lease: timedelta) -> str:
    """Return what to tell a person whose other tabs hold the rest."""
    minutes = int(lease.total_seconds() // 60)
    held = "1 item is" if elsewhere == 1 else f"{elsewhere} items are"
    return f"{held} held by another tab or browser of yours; they are free again {minutes} minutes after its last sign."
