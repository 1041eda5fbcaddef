"""What a visitor kept becomes the account's when somebody signs in with the same browser."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from search.models import Collection, Feedback, KnowledgeBase, SavedSearch, SearchRun
from search.services.access.visitors import Visitor
from search.services.collections.collections import make_collection, own_collections
from search.services.collections.take_over import take_over
from search.services.searches.request_search import request_search

pytestmark = pytest.mark.django_db
BROWSER, OTHER = Visitor(key="a browser"), Visitor(key="another browser")


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada", password="engine")


def asked(visitor: Visitor) -> SearchRun:
    return request_search(knowledge_base="films", question="Which films?", enqueue=False, visitor=visitor)


def test_all_that_a_visitor_has_moves_and_nothing_of_another_does(
    films: KnowledgeBase, services: object, ada: User
) -> None:
    mine, strange = asked(BROWSER), asked(OTHER)
    SavedSearch.objects.create(run=mine, asker=BROWSER.asker, name="films")
    Feedback.objects.create(run=mine, asker=BROWSER.asker, node_id="film/1", kind="right")
    roads = make_collection(name="Roads", user=None, visitor=BROWSER)
    assert take_over(ada, BROWSER) == 4
    assert take_over(ada, BROWSER) == 0
    mine.refresh_from_db()
    strange.refresh_from_db()
    assert (mine.user, mine.asker, strange.user, strange.asker) == (ada, "", None, OTHER.asker)
    assert [one.pk for one in own_collections(ada, Visitor())] == [roads.pk]
    assert SavedSearch.objects.get().user == Feedback.objects.get().user == ada


def test_what_the_account_said_itself_stays(films: KnowledgeBase, services: object, ada: User) -> None:
    run = asked(BROWSER)
    for owner in ({"user": ada, "name": "mine"}, {"asker": BROWSER.asker, "name": "the visitor's"}):
        SavedSearch.objects.create(run=run, **owner)
    Feedback.objects.create(run=run, user=ada, node_id="film/1", kind="right")
    for node in ("film/1", "film/2"):
        Feedback.objects.create(run=run, asker=BROWSER.asker, node_id=node, kind="wrong")
    take_over(ada, BROWSER)
    assert [one.name for one in SavedSearch.objects.filter(user=ada)] == ["mine"]
    said = dict(Feedback.objects.filter(user=ada).values_list("node_id", "kind"))
    assert said == {"film/1": "right", "film/2": "wrong"}


def test_a_visitor_without_a_key_has_nothing(ada: User) -> None:
    Collection.objects.create(name="of nobody", user=None, asker="")
    assert take_over(ada, Visitor(address="192.0.2.1")) == 0


def test_signing_in_hands_over_what_the_browser_asked(
    films: KnowledgeBase, services: object, ada: User, client: Client
) -> None:
    request = {"knowledge_base": "films", "question": "Which films?"}
    client.post("/api/v1/searches/", request, content_type="application/json")
    assert SearchRun.objects.get().user is None
    client.post(reverse("admin:login"), {"username": "ada", "password": "engine"})
    assert SearchRun.objects.get().user == ada
