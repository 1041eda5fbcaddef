"""Items shared out among people by name: even shares, mixed pairs, what is judged counts, and skips are passed on."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from search.domain.errors import InvalidRequest
from search.models import KnowledgeBase
from tests.training.annotating import annotator, queue_of
from training.models import AnnotationQueue, Judgement
from training.services.annotation.agree import able_to_judge, still_judging
from training.services.annotation.assign import assigned_people, progress_of_people, share_out
from training.services.annotation.describe import progress_of
from training.services.annotation.hand_out import hand_out
from training.services.annotation.judge import GivenJudgement, judge

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(films: KnowledgeBase) -> list[User]:
    return [annotator(name) for name in ("ada", "bo", "cy")]


def handed(queue: AnnotationQueue, user: User, number: int = 20) -> list[int]:
    return [one.position for one in hand_out(queue=queue, user=user, tab=UUID(int=user.pk), number=number).items]


def say(queue: AnnotationQueue, user: User, position: int, verdict: str = "graded") -> None:
    given = GivenJudgement(verdict, 2 if verdict == "graded" else None)
    judge(item=queue.items.get(position=position), user=user, key=uuid4(), base=0, given=given)


def shares(queue: AnnotationQueue) -> Counter[int]:
    return Counter(pk for assigned in assigned_people(queue).values() for pk in assigned)


def test_shares_are_even_and_everybody_works_with_everybody(films: KnowledgeBase, people: list[User]) -> None:
    queue = queue_of(films, 15, overlap=2)
    share_out(queue, people)
    # 15 items for two people each are 30 places, ten for each of three people.
    assert shares(queue) == {one.pk: 10 for one in people}
    pairs = Counter(frozenset(assigned) for assigned in assigned_people(queue).values())
    assert set(pairs) == {frozenset((a.pk, b.pk)) for a, b in combinations(people, 2)}


def test_each_person_is_handed_their_own_items_alone(films: KnowledgeBase, people: list[User]) -> None:
    queue = queue_of(films, 6, overlap=1)
    share_out(queue, people[:2])
    ada, bo, cy = people
    mine, theirs = handed(queue, ada), handed(queue, bo)
    assert (len(mine), len(theirs), sorted(mine + theirs), handed(queue, cy)) == (3, 3, [0, 1, 2, 3, 4, 5], [])
    assert [progress_of(queue, one)[name] for one in people for name in ("assigned", "left")] == [3, 3, 3, 3, 0, 0]
    share_out(queue, [])
    assert progress_of(queue, cy)["left"] == 6


def test_what_is_judged_counts_when_the_rest_is_shared_out(films: KnowledgeBase, people: list[User]) -> None:
    queue = queue_of(films, 4, overlap=2)
    ada, bo, cy = people
    assert handed(queue, ada, 2) == [0, 1]
    say(queue, ada, 0)
    say(queue, ada, 1, "unsure")
    share_out(queue, [bo, cy, ada])
    assigned = assigned_people(queue)
    for position in (0, 1):
        # One place is left of each, for another person.
        assert len(assigned[queue.items.get(position=position).pk] - {ada.pk}) == 1
    told = {one.user.username: one for one in progress_of_people(queue, people)}
    assert (told["ada"].graded, told["ada"].unsure, told["ada"].judged) == (1, 1, 2)
    assert told["ada"].changed is not None
    # Two places of the first two items and four of the others: six, two for each.
    assert [told[name].left for name in ("ada", "bo", "cy")] == [2, 2, 2]
    assert [told[name].assigned for name in ("ada", "bo", "cy")] == [4, 2, 2]


def test_a_skipped_item_is_passed_on_to_another_person_of_the_queue(films: KnowledgeBase, people: list[User]) -> None:
    queue = queue_of(films, 2, overlap=1)
    share_out(queue, people[:2])
    one, other, third = people
    [mine], [theirs] = handed(queue, one), handed(queue, other)
    say(queue, one, mine, "skipped")
    assert handed(queue, one) == []
    assert handed(queue, other) == sorted([mine, theirs])
    say(queue, other, theirs)
    assert still_judging(one, queue) is not None
    say(queue, other, mine, "skipped")
    # Nobody of the queue is left, and the third person is not of it.
    assert [handed(queue, person) for person in people] == [[], [], []]
    assert still_judging(one, queue) is None
    assert progress_of(queue, third)["left"] == 0


def test_a_hold_of_somebody_else_ends_and_what_they_judge_all_the_same_is_kept(
    films: KnowledgeBase, people: list[User]
) -> None:
    queue = queue_of(films, 1, overlap=1)
    ada, bo, _ = people
    assert handed(queue, ada) == [0]
    share_out(queue, [bo])
    assert handed(queue, bo) == [0]
    say(queue, ada, 0)
    assert Judgement.objects.get().annotator == ada


def test_too_few_people_are_refused(films: KnowledgeBase, people: list[User]) -> None:
    queue = queue_of(films, 2, overlap=3)
    with pytest.raises(InvalidRequest, match="choose at least 3"):
        share_out(queue, people[:2])
    assert assigned_people(queue) == {}


def test_who_may_judge_is_who_has_the_right_and_sees_the_base(films: KnowledgeBase, people: list[User]) -> None:
    queue = queue_of(films, 1)
    User.objects.create_user("reader")
    assert able_to_judge(queue) == people
    films.visibility = KnowledgeBase.Visibility.MEMBERS
    films.save()
    assert able_to_judge(queue) == []
