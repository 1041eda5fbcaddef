"""A search is stopped by who asked it, or by staff: over every door, and by nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client

from search.domain.errors import NotAllowed
from search.models import KnowledgeBase, SearchRun
from search.services.access.tokens import make_token
from search.services.access.visitors import Visitor
from search.services.searches.cancel_search import cancel_search
from search.services.searches.request_search import request_search

pytestmark = pytest.mark.django_db
QUESTION = "Who made Amber Road?"
DOORS = ("page", "API")


def by_page(client: Client) -> SearchRun:
    client.post("/", {"kb": "films", "q": QUESTION})
    return SearchRun.objects.latest("created")


def by_api(client: Client, **extra: Any) -> SearchRun:
    body = json.dumps({"knowledge_base": "films", "question": QUESTION})
    answer = client.post("/api/v1/searches/", body, content_type="application/json", **extra)
    assert answer.status_code == 202, answer.content
    return SearchRun.objects.get(pk=answer.json()["id"])


def cancel(client: Client, run: SearchRun, door: str) -> int:
    address = f"/search/{run.pk}/cancel/" if door == "page" else f"/api/v1/searches/{run.pk}/cancel/"
    return client.post(address).status_code


def status_of(run: SearchRun) -> str:
    run.refresh_from_db()
    return run.status


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("ask", [by_page, by_api], ids=["asked by page", "asked by API"])
def test_a_visitor_stops_what_the_same_browser_asked_and_no_other_visitor_does(
    films: KnowledgeBase, door: str, ask: Any
) -> None:
    mine, other = Client(), Client()
    run = ask(mine)
    ask(other)  # So that the other browser has a key too, of its own.

    assert cancel(Client(), run, door) == 403
    assert cancel(other, run, door) == 403
    assert status_of(run) == "queued"
    assert cancel(mine, run, door) in (200, 302)
    assert status_of(run) == "cancelled"


@pytest.mark.parametrize("door", DOORS)
def test_an_account_stops_its_own_staff_any_and_another_account_none(films: KnowledgeBase, door: str) -> None:
    clients = {}
    for name in ("asker", "other", "staff"):
        clients[name] = Client()
        clients[name].force_login(User.objects.create_user(name, is_staff=name == "staff"))
    first, second = by_page(clients["asker"]), by_api(clients["asker"])

    for run in (first, second):
        assert cancel(Client(), run, door) == 403
        assert cancel(clients["other"], run, door) == 403
        assert status_of(run) == "queued"
    assert cancel(clients["staff"], first, door) in (200, 302)
    assert cancel(clients["asker"], second, door) in (200, 302)
    assert (status_of(first), status_of(second)) == ("cancelled", "cancelled")


def test_a_key_that_was_made_up_is_none(films: KnowledgeBase) -> None:
    mine, forger = Client(), Client()
    run = by_page(mine)
    signed = mine.cookies["visitor"].value
    assert mine.cookies["visitor"]["httponly"]
    forger.cookies["visitor"] = signed[:-1] + ("A" if signed[-1] != "A" else "B")
    assert cancel(forger, run, "API") == 403
    forger.cookies["visitor"] = run.asker
    assert cancel(forger, run, "page") == 403
    assert signed.split(":")[0] not in run.asker, "the run keeps the key itself"


def test_a_visitor_without_a_key_owns_nothing(films: KnowledgeBase) -> None:
    run = request_search(knowledge_base="films", question=QUESTION, user=AnonymousUser(), enqueue=False)
    with pytest.raises(NotAllowed):
        cancel_search(run, user=AnonymousUser(), visitor=Visitor())


def test_a_command_stops_any(films: KnowledgeBase) -> None:
    run = request_search(knowledge_base="films", question=QUESTION, user=AnonymousUser(), enqueue=False)
    assert cancel_search(run, user=None).status == "cancelled"


def test_what_was_asked_before_signing_in_stays_with_the_browser(films: KnowledgeBase) -> None:
    client = Client()
    run = by_page(client)
    client.force_login(User.objects.create_user("somebody"))
    assert cancel(client, run, "page") == 302


def test_a_token_stops_what_its_account_asked(films: KnowledgeBase) -> None:
    _, text = make_token(User.objects.create_user("program"))
    _, stranger = make_token(User.objects.create_user("stranger"))
    run = by_api(Client(), headers={"Authorization": f"Token {text}"})
    address = f"/api/v1/searches/{run.pk}/cancel/"
    assert Client().post(address, headers={"Authorization": f"Token {stranger}"}).status_code == 403
    assert Client().post(address, headers={"Authorization": f"Token {text}"}).json()["status"] == "cancelled"


def test_the_button_is_there_for_who_may_press_it(films: KnowledgeBase) -> None:
    mine = Client()
    run = by_page(mine)
    for more in ("", "live/"):
        assert 'id="cancel"' in mine.get(f"/search/{run.pk}/{more}").content.decode()
        assert 'id="cancel"' not in Client().get(f"/search/{run.pk}/{more}").content.decode()
