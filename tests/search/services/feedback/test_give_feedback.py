"""Feedback on results: one judgment for a person and node, which only they withdraw; faults are told in sentences."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client
from django.utils import timezone

from search.domain.errors import InvalidRequest, NotAllowed, NotNow
from search.models import Feedback, KnowledgeBase, Node, SearchRun
from search.services.access.visitors import NOBODY, Visitor
from search.services.feedback import give_feedback as service
from search.services.feedback.give_feedback import feedback_for, give_feedback, withdraw_feedback
from search.services.searches.prune_runs import prune_runs
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search

pytestmark = pytest.mark.django_db
QUESTION = "Which films did Ada Holm direct?"


@pytest.fixture
def run(films: KnowledgeBase, services: object) -> SearchRun:
    """A finished search, whose three results are the films."""
    return run_search(request_search(knowledge_base="films", question=QUESTION, enqueue=False).pk)


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada")


def told(run: SearchRun) -> list[tuple[str, str, int | None]]:
    return list(run.feedback.order_by("pk").values_list("node_id", "kind", "rank"))


def give(run: SearchRun, node: Any, kind: Any, user: Any = None, visitor: Visitor = NOBODY, note: Any = "") -> Feedback:
    return give_feedback(run, node=node, kind=kind, note=note, user=user or AnonymousUser(), visitor=visitor)


def refused(run: SearchRun, user: User, node: Any, kind: Any = "right", note: Any = "") -> str:
    with pytest.raises(InvalidRequest) as error:
        give(run, node, kind, user, note=note)
    return " ".join(fault.sentence for fault in error.value.faults)


def test_a_person_has_one_judgment_of_a_node_and_the_last_one_counts(run: SearchRun, ada: User) -> None:
    give(run, "film/1", "wrong", ada)
    given = give(run, "film/1", "right", ada, note=" sure ")
    assert (given.node_name, given.note) == ("Amber Road", "sure")
    give(run, "film/1", "wrong", visitor=Visitor(key="k"))
    assert told(run) == [("film/1", "right", given.rank), ("film/1", "wrong", given.rank)]


def test_a_missing_node_is_named_by_its_id_or_its_name(run: SearchRun, ada: User) -> None:
    give(run, "person/1", "missing", ada)
    give(run, " ada holm ", "missing", visitor=Visitor(key="k"))
    assert told(run) == [("person/1", "missing", None)] * 2


def test_what_cannot_be_judged_is_told_in_a_sentence(run: SearchRun, ada: User) -> None:
    assert "is not a result of this search" in refused(run, ada, "person/1")
    assert "There is no entity 'Ada Hol' in films-1. Did you mean 'Ada Holm'?" in refused(
        run, ada, "Ada Hol", "missing"
    )
    assert "Amber Road is result" in refused(run, ada, "film/1", "missing")
    assert "one of: right, wrong, missing. Did you mean 'right'?" in refused(run, ada, "film/1", "rigth")
    assert "at most 1,000 characters" in refused(run, ada, "film/1", note="x" * 1001)
    for node in (None, 5, "", " ", "\x00", "\ud800", "x" * 2000):
        assert "Feedback names an entity" in refused(run, ada, node)
    assert Feedback.objects.count() == 0


def test_a_name_of_several_nodes_asks_for_an_id(run: SearchRun, ada: User) -> None:
    Node.objects.filter(id="person/1").update(name="Odd 1")
    assert "Several entities are called 'Odd 1'; give an id: 'person/1', 'a/b'." in refused(
        run, ada, "Odd 1", "missing"
    )


def test_a_search_that_has_not_ended_is_not_judged(films: KnowledgeBase, ada: User) -> None:
    queued = request_search(knowledge_base="films", question=QUESTION, enqueue=False)
    assert "has not ended yet" in refused(queued, ada, "film/1")


def test_a_caller_whom_nobody_could_recognise_is_refused(run: SearchRun) -> None:
    with pytest.raises(NotAllowed, match="sign in, or allow the cookie"):
        give(run, "film/1", "right")


def test_judgments_in_a_minute_are_limited(run: SearchRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_IN_A_MINUTE", 2)
    visitor = Visitor("203.0.113.77", "k")
    give(run, "film/1", "right", visitor=visitor)
    give(run, "film/2", "right", visitor=visitor)
    with pytest.raises(NotNow, match="More than 2 judgments in a minute"):
        give(run, "film/3", "right", visitor=visitor)


def test_staff_read_everybody_s_and_others_their_own(run: SearchRun, ada: User) -> None:
    give(run, "film/1", "right", ada)
    give(run, "film/2", "wrong", visitor=Visitor(key="k"))
    staff = User(username="staff", is_staff=True, pk=10**6)
    assert feedback_for(run, staff, NOBODY).count() == 2
    assert [one.node_id for one in feedback_for(run, ada, NOBODY)] == ["film/1"]
    assert [one.node_id for one in feedback_for(run, AnonymousUser(), Visitor(key="k"))] == ["film/2"]
    assert feedback_for(run, AnonymousUser(), NOBODY).count() == 0


def test_only_one_s_own_is_withdrawn(run: SearchRun, ada: User) -> None:
    give(run, "film/1", "right", ada)
    give(run, "film/2", "right", ada)
    give(run, "film/1", "wrong", visitor=Visitor(key="k"))
    assert withdraw_feedback(run, user=AnonymousUser(), visitor=NOBODY) == 0
    assert withdraw_feedback(run, node="film/1", user=ada, visitor=NOBODY) == 1
    assert told(run)[0][0] == "film/2"
    assert withdraw_feedback(run, user=ada, visitor=NOBODY) == 1
    assert [one[1] for one in told(run)] == ["wrong"]


def test_searches_with_feedback_outlive_the_others(run: SearchRun, ada: User) -> None:
    other = run_search(request_search(knowledge_base="films", question="Who?", enqueue=False).pk)
    give(run, "film/1", "right", ada)
    SearchRun.objects.update(created=timezone.now() - timedelta(days=400))
    assert prune_runs(90) == 1
    assert not SearchRun.objects.filter(pk=other.pk).exists()
    assert run.feedback.count() == 1


def post(client: Client, run: SearchRun, body: Any) -> Any:
    return client.post(f"/api/v1/searches/{run.pk}/feedback/", json.dumps(body), content_type="application/json")


def test_the_api_records_lists_and_withdraws(run: SearchRun, api: Client) -> None:
    answer = post(api, run, {"node": "film/1", "kind": "right", "note": None})
    assert answer.status_code == 201
    rank = answer.json()["rank"]
    assert answer.json() == {
        "node": {"id": "film/1", "name": "Amber Road"}, "kind": "right", "rank": rank, "note": "", "by": "",
        "created": answer.json()["created"],
    }  # fmt: skip
    post(api, run, {"node": "Ada Holm", "kind": "missing", "note": "she is asked for"})
    address = f"/api/v1/searches/{run.pk}/feedback/"
    listed = api.get(address).json()
    assert [(one["node"]["id"], one["kind"]) for one in listed["results"]] == [
        ("film/1", "right"),
        ("person/1", "missing"),
    ]
    assert Client().get(address).json()["count"] == 0
    assert Client().delete(address).status_code == 204
    assert api.delete(f"{address}?node=film/1").status_code == 204
    assert api.get(address).json()["count"] == 1
    assert api.delete(address).status_code == 204
    assert Feedback.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ([], ""),
        ({}, "/kind"),
        ({"node": "film/1", "kind": "right", "x": 1}, "/x"),
        ({"node": 1, "kind": "right"}, "/node"),
        ({"node": "film/1", "kind": ["right"]}, "/kind"),
        ({"node": "film/1", "kind": "right", "note": 3}, "/note"),
    ],
)
def test_the_api_names_every_fault(run: SearchRun, api: Client, body: Any, pointer: str) -> None:
    answer = post(api, run, body)
    assert answer.status_code == 400
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]
    assert Feedback.objects.count() == 0


def test_the_page_works_without_scripts_and_shows_what_one_said(run: SearchRun) -> None:
    browser = Client()
    address = f"/search/{run.pk}/feedback/"
    page = browser.get(f"/search/{run.pk}/").content.decode()
    assert page.count('aria-pressed="false"') >= 6
    answer = browser.post(address, {"right": "film/1"})
    rank = Feedback.objects.get().rank
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/search/{run.pk}/#result-{rank}")
    page = browser.get(f"/search/{run.pk}/").content.decode()
    assert '<button form="feedback" name="withdraw" value="film/1" data-kind="right" aria-pressed="true">' in page
    assert 'aria-pressed="true"' not in Client().get(f"/search/{run.pk}/").content.decode().split("<main", 1)[1]
    answer = browser.post(address, {"withdraw": "film/1"})
    assert answer.headers["Location"].endswith(f"#result-{rank}")
    assert Feedback.objects.count() == 0
    answer = browser.post(address, {"missing": "", "node": "Ada Holm", "note": "<b>"})
    assert answer.headers["Location"].endswith("#missing")
    page = browser.get(f"/search/{run.pk}/").content.decode()
    assert "is missing: &lt;b&gt;" in page


def test_the_page_tells_a_fault_beside_the_field_and_a_script_gets_it_as_json(run: SearchRun) -> None:
    browser = Client()
    address = f"/search/{run.pk}/feedback/"
    answer = browser.post(address, {"missing": "", "node": "Nobody There"})
    assert answer.status_code == 400
    assert "There is no entity &#x27;Nobody There&#x27;" in answer.content.decode()
    assert 'value="Nobody There"' in answer.content.decode()
    answer = browser.post(address, {"right": "nothing"}, headers={"Accept": "application/json"})
    assert (answer.status_code, "is not a result" in answer.json()["fault"]) == (400, True)
    assert browser.post(address, {}).status_code == 400
    answer = browser.post(address, {"wrong": "film/2"}, headers={"Accept": "application/json"})
    assert answer.json() == {"node": "film/2", "kind": "wrong"}
