"""Who is handed what: overlap, holds that expire, tabs, and many people at once against a real Postgres."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from search.models import KnowledgeBase
from search.models.knowledge import BuildStatus
from tests.training.annotating import annotator, queue_of
from training.models import AnnotationItem, AnnotationQueue, Assignment, Judgement, JudgementRevision
from training.services.annotation.describe import progress_of
from training.services.annotation.hand_out import Handed, hand_out
from training.services.annotation.judge import GivenJudgement, judge

GOOD = GivenJudgement("graded", 3)


def handed(queue: AnnotationQueue, user: User, number: int = 1, tab: int = 0, take_over: bool = False) -> list[int]:
    """Return the positions of the items that a tab holds."""
    return [one.position for one in _handed(queue, user, number, tab, take_over).items]


def _handed(queue: AnnotationQueue, user: User, number: int, tab: int = 0, take_over: bool = False) -> Handed:
    return hand_out(queue=queue, user=user, tab=UUID(int=tab), number=number, take_over=take_over)


def said(queue: AnnotationQueue, user: User, position: int, given: GivenJudgement = GOOD) -> None:
    judge(item=queue.items.get(position=position), user=user, key=uuid4(), base=0, given=given)


@pytest.mark.django_db
def test_each_item_goes_to_as_many_people_as_the_overlap_says(films: KnowledgeBase) -> None:
    queue = queue_of(films, 3, overlap=2)
    ada, bo, cy = map(annotator, ("ada", "bo", "cy"))
    assert handed(queue, ada, 2) == [0, 1]
    assert handed(queue, bo, 2) == [0, 1]
    assert handed(queue, cy, 3) == [2]
    # A request that is repeated renews what is held and gives nothing more.
    assert handed(queue, ada, 2) == [0, 1]
    said(queue, ada, 0)
    said(queue, bo, 0)
    # The places of item 0 are taken by judgements; of item 2 there is one place left.
    assert handed(queue, ada, 5) == [1, 2]
    assert handed(queue, cy, 5) == [2]
    assert progress_of(queue, ada) == {"items": 3, "done": 1, "retired": 0, "mine": 1, "skipped": 0, "left": 2,
                                        "assigned": 0}  # fmt: skip


@pytest.mark.django_db
def test_a_skipped_item_goes_to_somebody_else_and_does_not_come_back(films: KnowledgeBase) -> None:
    queue = queue_of(films, 1, overlap=1)
    ada, bo = annotator("ada"), annotator("bo")
    assert handed(queue, ada) == [0]
    assert handed(queue, bo) == []
    said(queue, ada, 0, GivenJudgement("skipped"))
    assert handed(queue, ada) == []
    assert handed(queue, bo) == [0]
    said(queue, bo, 0, GivenJudgement("unsure"))
    assert progress_of(queue, bo)["done"] == 1


@pytest.mark.django_db
def test_who_goes_away_loses_the_hold_and_a_late_judgement_is_kept_all_the_same(films: KnowledgeBase) -> None:
    queue = queue_of(films, 1, overlap=1)
    ada, bo = annotator("ada"), annotator("bo")
    assert handed(queue, ada) == [0]
    Assignment.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert handed(queue, bo) == [0]
    # Nothing of it is handed to the first again: the place is taken.
    assert handed(queue, ada) == []
    said(queue, bo, 0)
    said(queue, ada, 0, GivenJudgement("graded", 1))
    assert sorted(Judgement.objects.values_list("annotator_name", "grade")) == [("ada", 1), ("bo", 3)]


@pytest.mark.django_db
def test_two_tabs_of_one_person_get_different_items_until_one_takes_over(films: KnowledgeBase) -> None:
    queue = queue_of(films, 4, overlap=1)
    ada = annotator("ada")
    assert handed(queue, ada, 3, tab=1) == [0, 1, 2]
    assert handed(queue, ada, 3, tab=2) == [3]
    assert _handed(queue, ada, 3, tab=2).elsewhere == 3
    assert handed(queue, ada, 3, tab=2, take_over=True) == [0, 1, 2, 3]
    assert handed(queue, ada, 3, tab=1) == []


@pytest.mark.django_db
def test_a_closed_queue_hands_out_nothing_new_but_keeps_what_comes_in(films: KnowledgeBase) -> None:
    queue = queue_of(films, 2, overlap=1)
    ada = annotator("ada")
    assert handed(queue, ada) == [0]
    queue.state = AnnotationQueue.State.CLOSED
    queue.save()
    assert handed(queue, ada, 2) == [0]
    said(queue, ada, 0)
    assert handed(queue, ada, 2) == []
    assert Judgement.objects.count() == 1


@pytest.mark.django_db
def test_items_of_a_dropped_release_are_judged_by_their_copy_or_retired_with_a_sentence(films: KnowledgeBase) -> None:
    queue = queue_of(films, 3, overlap=1)
    ada, bo = annotator("ada"), annotator("bo")
    assert handed(queue, ada) == [0]
    assert films.active_release is not None
    films.active_release.status = BuildStatus.DROPPED
    films.active_release.save()
    queue = AnnotationQueue.objects.get()
    [held] = _handed(queue, ada, 1).items
    assert held.shown is not None
    assert held.shown["name"] == "Amber Road"
    said(queue, ada, 0)
    # Nobody has seen the other two, so nothing is kept of them.
    told = _handed(queue, bo, 5)
    assert told.items == ()
    assert told.retired == ("The release films-1 was dropped before anybody had seen this item.",)
    told_of = {"items": 3, "done": 1, "retired": 2, "mine": 0, "skipped": 0, "left": 0, "assigned": 0}
    assert progress_of(queue, bo) == told_of
    assert AnnotationItem.objects.filter(state="retired").count() == 2


@pytest.mark.django_db(transaction=True)
def test_many_people_and_tabs_at_once_lose_and_double_nothing(films: KnowledgeBase) -> None:
    """Four people, each in two tabs that send everything twice: each item is judged by exactly two of them."""
    items, overlap = 24, 2
    queue = queue_of(films, items, overlap=overlap)
    people = [annotator(name) for name in ("ada", "bo", "cy", "di")]

    def work(user: User) -> int:
        tab, done = uuid4(), 0
        try:
            while held := hand_out(queue=queue, user=user, tab=tab, number=3).items:
                for item in held:
                    key = uuid4()
                    for _ in range(2):
                        judge(item=item, user=user, key=key, base=0, given=GivenJudgement("graded", item.position % 4))
                    done += 1
        finally:
            connection.close()
        return done

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(work, people * 2))
    assert done == items * overlap
    per_item = Counter(Judgement.objects.values_list("item__position", flat=True))
    assert per_item == dict.fromkeys(range(items), overlap)
    assert JudgementRevision.objects.count() == items * overlap
