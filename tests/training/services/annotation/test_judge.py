"""What a judgement says is stored once, with every revision, and never overwritten silently."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from search.domain.errors import InvalidRequest
from search.models import KnowledgeBase
from tests.training.annotating import annotator, queue_of
from training.models import AnnotationItem, Judgement, JudgementRevision
from training.services.annotation.describe import describe_item, evidence_of, reveal
from training.services.annotation.hand_out import hand_out
from training.services.annotation.judge import GivenJudgement, JudgementConflict, judge, judge_as_model

pytestmark = pytest.mark.django_db

FULL = GivenJudgement.parse({
    "verdict": "graded", "grade": 2, "cause": "run:semantic", "stage": "ranked", "note": "near\x00", "seconds": 1e9,
    "expected": [{"id": "film/3", "name": "Birch Street"}, {"id": "film/3"}],
})  # fmt: skip


@pytest.fixture
def ada(films: KnowledgeBase) -> User:
    return annotator("ada")


@pytest.fixture
def item(films: KnowledgeBase, ada: User) -> AnnotationItem:
    [held] = hand_out(queue=queue_of(films, 1), user=ada, tab=UUID(int=1), number=1).items
    return held


def history() -> list[tuple[int, str, int | None]]:
    rows = JudgementRevision.objects.order_by("number")
    return [(row.number, row.values["verdict"], row.values["grade"]) for row in rows]


def test_the_same_key_is_stored_once_and_answered_alike(item: AnnotationItem, ada: User) -> None:
    key = uuid4()
    first = judge(item=item, user=ada, key=key, base=0, given=FULL)
    again = judge(item=item, user=ada, key=key, base=0, given=GivenJudgement("graded", 0))
    assert (first.new, again.new, again.judgement.grade) == (True, False, 2)
    stored = Judgement.objects.get()
    assert (stored.cause, stored.stage, stored.note, stored.seconds) == ("run:semantic", "ranked", "near\ufffd", 86_400)
    assert stored.expected == [{"id": "film/3", "name": "", "type": ""}]
    assert history() == [(1, "graded", 2)]


def test_undo_and_change_keep_the_history_and_the_item_comes_back(item: AnnotationItem, ada: User) -> None:
    judge(item=item, user=ada, key=uuid4(), base=0, given=FULL)
    assert hand_out(queue=item.queue, user=ada, tab=UUID(int=1), number=1).items == ()
    judge(item=item, user=ada, key=uuid4(), base=1, given=GivenJudgement("withdrawn"))
    assert [one.pk for one in hand_out(queue=item.queue, user=ada, tab=UUID(int=1), number=1).items] == [item.pk]
    judge(item=item, user=ada, key=uuid4(), base=2, given=GivenJudgement("graded", 0))
    assert history() == [(1, "graded", 2), (2, "withdrawn", None), (3, "graded", 0)]
    stored = Judgement.objects.get()
    assert (stored.grade, stored.revision, stored.note) == (0, 3, "")


def test_a_judgement_from_another_tab_is_not_overwritten_but_told(item: AnnotationItem, ada: User) -> None:
    judge(item=item, user=ada, key=uuid4(), base=0, given=FULL)
    with pytest.raises(JudgementConflict, match=r"in another tab or browser at \d\d:\d\d \(grade 2\)") as raised:
        judge(item=item, user=ada, key=uuid4(), base=0, given=GivenJudgement("graded", 1))
    assert raised.value.stored == Judgement.objects.get()
    assert history() == [(1, "graded", 2)]
    # The same judgement from both tabs is no conflict.
    assert not judge(item=item, user=ada, key=uuid4(), base=0, given=FULL).new
    replaced = judge(item=item, user=ada, key=uuid4(), base=1, given=GivenJudgement("graded", 1))
    assert (replaced.new, replaced.judgement.revision) == (True, 2)


def test_who_was_not_handed_the_item_may_not_judge_it_and_keys_are_not_shared(item: AnnotationItem, ada: User) -> None:
    bo, key = annotator("bo"), uuid4()
    with pytest.raises(JudgementConflict, match="was not handed to you"):
        judge(item=item, user=bo, key=uuid4(), base=0, given=FULL)
    for base, given, sentence in (
        (1, FULL, "no judgement of yours"),
        (0, GivenJudgement("withdrawn"), "could be withdrawn"),
    ):
        with pytest.raises(JudgementConflict, match=sentence):
            judge(item=item, user=ada, key=key, base=base, given=given)
    judge(item=item, user=ada, key=key, base=0, given=FULL)
    hand_out(queue=item.queue, user=bo, tab=UUID(int=2), number=1)
    with pytest.raises(JudgementConflict, match="belongs to another judgement"):
        judge(item=item, user=bo, key=key, base=0, given=FULL)
    assert Judgement.objects.count() == 1


def test_ranks_and_peers_are_told_after_judging_and_what_changes_then_is_informed(
    item: AnnotationItem, ada: User
) -> None:
    assert reveal(item, ada) is None
    judge_as_model(item=item, model="tiny", given=GivenJudgement("graded", 1))
    judge(item=item, user=ada, key=uuid4(), base=0, given=FULL)
    told = reveal(item, ada)
    assert told is not None
    assert told["pipelines"] == [{"pipeline": "secret-pipeline", "rank": 4711, "score": 0.8128}]
    assert [(one["by"], one["model"], one["grade"]) for one in told["judgements"]] == [("tiny", True, 1)]
    assert told["known_answer"] is True
    judge(item=item, user=ada, key=uuid4(), base=1, given=GivenJudgement("graded", 1))
    assert list(Judgement.objects.order_by("model").values_list("grade", "informed")) == [(1, True), (1, False)]
    assert [row.values["informed"] for row in JudgementRevision.objects.filter(judgement__model="")] == [False, True]


def test_what_the_search_found_is_told_after_judging_alone(item: AnnotationItem, ada: User) -> None:
    item.shown = {"name": "Amber Road", "conditions": [{"kind": "filter", "words": "year: 1999", "status": "met"}],
                  "paths": [[{"name": "Amber Road", "type": "film"}]], "note": ""}  # fmt: skip
    item.save()
    assert describe_item(item, ada)["candidate"] == {"name": "Amber Road"}
    assert evidence_of(item, ada) is None
    judge(item=item, user=ada, key=uuid4(), base=0, given=GivenJudgement("skipped"))
    assert evidence_of(item, ada) is None
    judge(item=item, user=ada, key=uuid4(), base=1, given=FULL)
    assert evidence_of(item, ada) == {
        "item": item.pk, "conditions": item.shown["conditions"], "paths": item.shown["paths"], "note": "",
    }  # fmt: skip
    judge(item=item, user=ada, key=uuid4(), base=2, given=GivenJudgement("graded", 0))
    assert [row.values["informed"] for row in JudgementRevision.objects.order_by("number")] == [False, False, True]


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"verdict": "good"}, ["/verdict"]),
        ({"verdict": "graded"}, ["/grade"]),
        ({"verdict": "graded", "grade": 4}, ["/grade"]),
        ({"verdict": "graded", "grade": True}, ["/grade"]),
        ({"verdict": "unsure", "grade": 1}, ["/grade"]),
        ({"verdict": "unsure", "cause": "data", "stage": "lost", "note": 7}, ["/cause", "/stage", "/note"]),
        ({"verdict": "unsure", "cause": [1], "expected": [{"name": "x"}, 3], "seconds": float("nan")},
         ["/cause", "/expected/0", "/expected/1", "/seconds"]),
    ],
)  # fmt: skip
def test_every_fault_of_a_judgement_is_told(body: dict[str, object], pointers: list[str]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        GivenJudgement.parse(body)
    assert [fault.pointer for fault in raised.value.faults] == pointers
