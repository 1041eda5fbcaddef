"""A queue about the films that three people have judged, with every figure known beforehand.

| item | question, node | ann | bea | cem | known answer |
|---|---|---|---|---|---|
| 0 | first, film/1 | 3 | 3 | 3 | yes |
| 1 | first, film/2 | 0 | 0 | 1 | |
| 2 | third, film/3 | 1 | 3 | – | yes |
| 3 | third, film/1 | 2 | 3 | 3 | |
| 4 | nowhere, film/2 | 0 | unsure | – | |
| 5 | nowhere, film/3 | – | – | – | |
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from search.models import KnowledgeBase
from training.data.examples import Example
from training.data.hashes import question_hash
from training.models import AnnotationItem, AnnotationQueue, Judgement, JudgementRevision, Verdict
from training.services.annotation.item_rows import text_hash

UNSURE = -1
PEOPLE = ("ann", "bea", "cem")
QUESTIONS = {
    "first": Example("q1", "first", ("film/1",), "val"), "third": Example("q 2", "third", ("film/3",), "train"),
    "nowhere": Example("q3", "nowhere", ("film/1",), "train"),
}  # fmt: skip
Rows = Sequence[tuple[str, str, tuple[int | None, ...]]]
ROWS: Rows = (
    ("first", "film/1", (3, 3, 3)), ("first", "film/2", (0, 0, 1)), ("third", "film/3", (1, 3, None)),
    ("third", "film/1", (2, 3, 3)), ("nowhere", "film/2", (0, UNSURE, None)), ("nowhere", "film/3", (None,) * 3),
)  # fmt: skip


def judged_queue(
    base: KnowledgeBase, rows: Sequence[tuple[str, str, tuple[int | None, ...]]] = ROWS
) -> AnnotationQueue:
    """Make the queue; `lee` has made it, and `ann`, `bea` and `cem` have judged."""
    release = base.active_release
    queue = AnnotationQueue.objects.create(
        knowledge_base=base, name="Lost answers", rule="lost", overlap=3, guideline="Grade 3 is a full answer.",
        release=release, release_name=release.name if release else "", author=person("lee"), items_count=len(rows),
    )  # fmt: skip
    for position, (text, node, grades) in enumerate(rows):
        example = QUESTIONS.get(text) or Example(text, text, (node,))
        item = AnnotationItem.objects.create(
            queue=queue, position=position, question=text, question_identifier=example.id, text_hash=text_hash(text),
            question_hash=question_hash(example), answers=list(example.answers), split=example.split, node_id=node,
            node_name=node.title(), origin={"reason": "lost", "pipelines": {"text": {"rank": position + 1}}},
        )  # fmt: skip
        for name, grade in zip(PEOPLE, grades, strict=True):
            if grade is not None:
                judge(item, person(name), grade)
    return queue


def person(name: str) -> User:
    return User.objects.get_or_create(username=name)[0]


def judge(item: AnnotationItem, user: User, grade: int, *, informed: bool = False) -> Judgement:
    """Write a judgement as the service does: the newest revision, and its history."""
    unsure = grade == UNSURE
    values = {"verdict": Verdict.UNSURE if unsure else Verdict.GRADED, "grade": None if unsure else grade,
              "informed": informed}  # fmt: skip
    made, _ = Judgement.objects.update_or_create(
        item=item, annotator=user, defaults={"annotator_name": user.username, **values}
    )
    number = made.revisions.count() + 1
    JudgementRevision.objects.create(judgement=made, number=number, key=uuid4(), values=values, made=timezone.now())
    return made
