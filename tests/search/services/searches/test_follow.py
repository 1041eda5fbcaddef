"""A search that follows another: what its row keeps, which searches cannot be followed, and how it is described."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User

from search.domain.follow_up import MAX_THREAD
from search.models import KnowledgeBase, SearchRun
from search.services.searches.check_request import SearchRejected
from search.services.searches.describe_search import describe_search
from search.services.searches.prune_runs import delete_runs
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search import small

pytestmark = pytest.mark.django_db


def ask(question: str = "Who made Amber Road?", **more: Any) -> SearchRun:
    asked = {"knowledge_base": "films", "question": question, "enqueue": False} | more
    return run_search(request_search(**asked).pk)


def fault(**asked: Any) -> str:
    """Return the only fault of a request, which has to be of `follows`, and check that it left no run."""
    before = SearchRun.objects.count()
    with pytest.raises(SearchRejected) as rejected:
        request_search(**{"knowledge_base": "films", "question": "how many?", "enqueue": False} | asked)
    [found] = rejected.value.faults
    assert (found.pointer, SearchRun.objects.count()) == ("/follows", before)
    return found.message


def test_a_follow_up_keeps_what_it_has_to_know(films: KnowledgeBase) -> None:
    first = ask()
    second = ask("how many?", follows=first.pk, knowledge_base=None)
    assert (second.follows, second.knowledge_base_name, second.pipeline) == (first.pk, "films", first.pipeline)
    assert second.followed is not None
    assert second.followed["plan"] == small.PLAN.to_json()
    third = ask("only those after 2000", follows=str(second.pk))
    described = describe_search(third)
    assert described["follows"] == str(second.pk)
    assert described["follow_up"]["thread"] == [
        {"id": str(first.pk), "question": "Who made Amber Road?"},
        {"id": str(second.pk), "question": "how many?"},
    ]


def test_a_search_that_follows_nothing_says_so(films: KnowledgeBase) -> None:
    described = describe_search(ask())
    assert (described["follows"], described["follow_up"]) == (None, None)


def test_the_pipeline_of_the_search_before_is_used_unless_another_is_given(films: KnowledgeBase) -> None:
    first = ask(pipeline="text")
    assert ask("how many?", follows=first.pk).pipeline == "text"
    assert ask("how many?", follows=first.pk, pipeline="path").pipeline == "path"


def test_a_deleted_search_stays_readable_in_what_followed_it(films: KnowledgeBase) -> None:
    first = ask()
    second = ask("how many?", follows=first.pk)
    SearchRun.objects.filter(pk=first.pk).update(created="2020-01-01T00:00:00Z")
    assert delete_runs(30) == 1
    described = describe_search(SearchRun.objects.get(pk=second.pk))
    assert described["follow_up"]["thread"] == [{"id": str(first.pk), "question": "Who made Amber Road?"}]
    third = ask("and now?", follows=second.pk)
    assert len(describe_search(third)["follow_up"]["thread"]) == 2


@pytest.mark.parametrize("follows", ["", "x", 5, [], uuid.UUID(int=1), "\x00", True])
def test_what_is_no_id_of_a_search_is_named(films: KnowledgeBase, follows: object) -> None:
    assert "There is no search with the id" in fault(follows=follows)


def test_the_search_of_somebody_else_is_none_for_those_who_may_not_read_it(films: KnowledgeBase) -> None:
    owner = User.objects.create_user("owner")
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()
    KnowledgeBase.objects.create(name="open", title="Open")
    hidden = ask(user=None)
    with pytest.raises(SearchRejected) as rejected:
        request_search(knowledge_base="films", question="how many?", follows=hidden.pk, user=owner, enqueue=False)
    unknown = uuid.UUID(int=7)
    with pytest.raises(SearchRejected) as none:
        request_search(knowledge_base="films", question="how many?", follows=unknown, user=owner, enqueue=False)
    messages = [
        [fault.message.replace(str(one), "ID") for fault in error.value.faults]
        for error, one in ((rejected, hidden.pk), (none, unknown))
    ]
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("queued", "has not ended yet"),
        ("running", "has not ended yet"),
        ("failed", "has failed"),
        ("cancelled", "has been cancelled"),
    ],
)
def test_only_a_search_that_is_done_can_be_followed(films: KnowledgeBase, status: str, said: str) -> None:
    first = ask()
    SearchRun.objects.filter(pk=first.pk).update(status=status)
    assert said in fault(follows=first.pk)


def test_a_follow_up_asks_the_same_knowledge_base(films: KnowledgeBase) -> None:
    first = ask()
    small.films("others")
    assert "'films'" in fault(follows=first.pk, knowledge_base="others")


def test_a_search_does_not_follow_itself_nor_goes_a_thread_round_in_a_circle(films: KnowledgeBase) -> None:
    first = ask()
    assert "follow itself" in fault(follows=first.pk, run_id=first.pk)
    second = ask("how many?", follows=first.pk)
    SearchRun.objects.filter(pk=first.pk).update(follows=second.pk, followed=second.followed | {
        "thread": [{"id": str(second.pk), "question": "how many?"}, {"id": str(first.pk), "question": "x"}]
    })  # fmt: skip
    assert "circle" in fault(follows=first.pk)


def test_a_thread_ends_after_its_fiftieth_question(films: KnowledgeBase) -> None:
    first = ask()
    second = ask("how many?", follows=first.pk)
    assert second.followed is not None
    thread = [{"id": str(uuid.uuid4()), "question": "and?"} for _ in range(MAX_THREAD - 2)]
    SearchRun.objects.filter(pk=second.pk).update(followed=second.followed | {"thread": thread})
    last = ask("how many?", follows=second.pk)
    assert len(describe_search(last)["follow_up"]["thread"]) == MAX_THREAD - 1
    assert "at most 50 questions" in fault(follows=last.pk)


def test_another_release_is_said_and_a_plan_that_does_not_fit_it_is_left_out(films: KnowledgeBase) -> None:
    first = ask()
    release = films.active_release
    assert release is not None
    release.pk, release.number = None, 2
    release.save()
    films.active_release = release
    films.save()
    second = ask("how many?", follows=first.pk)
    note = describe_search(second)["follow_up"]["note"]
    assert note == "The search before was asked of films-1; this one was asked of films-2."
    strange = {**small.PLAN.to_json(), "target": {"var": "T", "labels": ["planet"], "relevance_text": ""}}
    assert second.followed is not None
    SearchRun.objects.filter(pk=second.pk).update(followed=second.followed | {"plan": strange})
    assert ask("which ones?", follows=second.pk).status == "done"


def test_a_pipeline_without_a_plan_asks_both_questions_together(films: KnowledgeBase) -> None:
    asked: list[str] = []
    for text in ("Who made Amber Road? and Birch Street?", "and Birch Street?"):
        small.HOOKS[text] = lambda _, text=text: asked.append(text)  # type: ignore[misc]
    first = ask(pipeline="text")
    second = ask("and Birch Street?", follows=first.pk)
    assert second.status == "done"
    assert asked == ["Who made Amber Road? and Birch Street?"]
    assert "asked together" in second.steps.get(role="follow up").detail


def test_a_visitor_follows_a_search_of_a_public_base(films: KnowledgeBase) -> None:
    first = ask(user=AnonymousUser())
    assert ask("how many?", follows=first.pk, user=AnonymousUser()).follows == first.pk
