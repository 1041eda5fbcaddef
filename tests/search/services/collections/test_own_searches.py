"""A person's own searches: who sees which, and what forgetting one leaves behind."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from search.domain.errors import InvalidRequest, NotAllowed
from search.models import KnowledgeBase, SearchRun
from search.services.access.visitors import NOBODY, Visitor
from search.services.collections.own_searches import forget_search, own_searches, recent_searches
from search.services.collections.saved_searches import (
    News,
    news_of,
    rename_saved,
    replace_base,
    save_search,
    saved_searches,
    unsave_search,
)
from search.services.feedback.give_feedback import give_feedback
from search.services.searches.prune_runs import prune_runs
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search

pytestmark = pytest.mark.django_db
NOBODY_KNOWN, BROWSER = AnonymousUser(), Visitor(key="k")


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada")


def search(question: str = "Who?", user: Any = None, visitor: Visitor = NOBODY, origin: str = "page") -> SearchRun:
    run = request_search(
        knowledge_base="films", question=question, user=user or NOBODY_KNOWN, visitor=visitor, origin=origin,
        enqueue=False,
    )  # fmt: skip
    return run_search(run.pk)


def test_each_person_sees_their_own_searches_newest_first(films: KnowledgeBase, services: object, ada: User) -> None:
    first, second = search("Amber?", ada), search("Birch?", ada)
    program, visited = search("Amber?", ada, origin="api"), search("Amber?", visitor=BROWSER)

    assert list(own_searches(ada, NOBODY)) == [second, first]
    assert list(own_searches(ada, NOBODY, programs=True)) == [program, second, first]
    assert list(own_searches(ada, NOBODY, words="BIRCH")) == [second]
    assert list(own_searches(ada, NOBODY, knowledge_base="other")) == []
    assert list(own_searches(NOBODY_KNOWN, BROWSER)) == [visited]
    assert list(own_searches(NOBODY_KNOWN, Visitor(key="other"))) == []
    assert list(own_searches(NOBODY_KNOWN, NOBODY)) == []
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()
    assert list(own_searches(NOBODY_KNOWN, BROWSER)) == []


def test_the_home_page_shows_each_question_once(films: KnowledgeBase, services: object, ada: User) -> None:
    asked = [search(question, ada) for question in ("Amber?", "Birch?", "Amber?")]
    assert recent_searches(ada, NOBODY) == [asked[2], asked[1]]
    assert recent_searches(ada, NOBODY, most=1) == [asked[2]]


def test_a_search_is_forgotten_by_its_owner_alone(films: KnowledgeBase, services: object, ada: User) -> None:
    run, visited = search(user=ada), search(visitor=BROWSER)
    save_search(run, user=ada, visitor=NOBODY)
    for user, visitor in ((NOBODY_KNOWN, BROWSER), (NOBODY_KNOWN, NOBODY), (User.objects.create_user("eve"), NOBODY)):
        with pytest.raises(NotAllowed, match="only by the person who requested it"):
            forget_search(run, user=user, visitor=visitor)
    assert forget_search(run, user=ada, visitor=NOBODY)
    assert forget_search(visited, user=NOBODY_KNOWN, visitor=BROWSER)
    assert not SearchRun.objects.exists()


def test_a_search_that_others_rely_on_stays_without_its_owner(
    films: KnowledgeBase, services: object, ada: User
) -> None:
    run = search(user=ada)
    give_feedback(run, node="film/1", kind="right", user=User.objects.create_user("eve"), visitor=NOBODY)
    assert not forget_search(run, user=ada, visitor=NOBODY)
    run.refresh_from_db()
    assert (run.user, run.asker) == (None, "")
    assert list(own_searches(ada, NOBODY)) == []


def test_a_search_that_runs_is_not_forgotten(films: KnowledgeBase, services: object, ada: User) -> None:
    run = request_search(knowledge_base="films", question="Who?", user=ada, enqueue=False)
    with pytest.raises(InvalidRequest, match="has not ended yet"):
        forget_search(run, user=ada, visitor=NOBODY)


def test_a_saved_search_has_a_name_and_a_note_and_is_not_pruned(
    films: KnowledgeBase, services: object, ada: User
) -> None:
    run, other = search("Amber?", ada), search("Birch?", ada)
    saved = save_search(run, user=ada, visitor=NOBODY)
    assert save_search(run, user=ada, visitor=NOBODY, name="again") == saved
    assert saved.name == "Amber?"
    rename_saved(saved, name=" Roads ", note="for May", user=ada, visitor=NOBODY)
    assert [one.name for one in saved_searches(ada, NOBODY, words="may")] == ["Roads"]
    for name, note, said in (("", "", "Give it a name"), ("x" * 201, "", "200 characters"), ("x", "\x00", "4,000")):
        with pytest.raises(InvalidRequest, match=said):
            rename_saved(saved, name=name, note=note, user=ada, visitor=NOBODY)
    SearchRun.objects.update(created=timezone.now() - timedelta(days=100))
    assert prune_runs(90) == 1
    assert not SearchRun.objects.filter(pk=other.pk).exists()
    assert unsave_search(run, user=ada, visitor=NOBODY)
    assert prune_runs(90) == 1


def test_nobody_can_save_who_would_not_be_known_again(films: KnowledgeBase, services: object) -> None:
    run = search(visitor=BROWSER)
    with pytest.raises(NotAllowed, match="sign in, or allow the cookie"):
        save_search(run, user=NOBODY_KNOWN, visitor=NOBODY)
    save_search(run, user=NOBODY_KNOWN, visitor=BROWSER)
    assert not saved_searches(NOBODY_KNOWN, Visitor(key="other"))


def test_a_saved_search_stands_for_a_newer_one_of_its_question_only(
    films: KnowledgeBase, services: object, ada: User
) -> None:
    saved = save_search(search("Amber?", ada), user=ada, visitor=NOBODY, name="Roads")
    newer, other = search("Amber?", ada), search("Birch?", ada)
    replace_base(saved, newer, user=ada, visitor=NOBODY)
    assert [(one.name, one.run) for one in saved_searches(ada, NOBODY)] == [("Roads", newer)]
    with pytest.raises(InvalidRequest, match="of the same question"):
        replace_base(saved, other, user=ada, visitor=NOBODY)


def test_news_name_the_newer_release_and_the_version(films: KnowledgeBase, services: object, ada: User) -> None:
    run = search("Amber?", ada)
    assert not news_of([run])[run.pk]
    release = films.active_release
    assert release is not None
    films.active_release = films.releases.create(number=2, snapshot=release.snapshot, status=release.status)
    films.save()
    films.pipeline_versions.create(pipeline="path", version=1, active=True)
    assert news_of([run]) == {run.pk: News(release="films-2", version="path 1")}
