"""The plan inside an anchor in the editor: opened, changed, taken into the whole plan, left as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search.views.test_plan import PART, read_fields, words

pytestmark = pytest.mark.django_db(transaction=True)

NEWEST: dict[str, Any] = {
    "target": {"var": "F", "labels": ["film"]}, "order": {"by": {"field": "year"}, "direction": "desc", "limit": 1},
}  # fmt: skip
DIRECTED: dict[str, Any] = {"from": "f", "rel": "directed by", "to_var": "T", "to_label": "person"}
WHO: dict[str, Any] = {
    "anchors": [{"var": "f", "plan": NEWEST}], "hops": [DIRECTED], "target": {"var": "T", "labels": ["person"]},
}  # fmt: skip
ITS_FILMS: dict[str, Any] = {
    "anchors": [{"var": "p", "plan": WHO | {"target": {"var": "P", "labels": ["person"]},
                                            "hops": [DIRECTED | {"to_var": "P"}]}}],
    "hops": [{"from": "T", "rel": "directed by", "to_var": "p", "to_label": "person"}],
    "target": {"var": "T", "labels": ["film"]},
}  # fmt: skip


@pytest.fixture
def asked(films: KnowledgeBase, services: object) -> Callable[[dict[str, Any]], SearchRun]:
    """A function that asks with a plan and returns the finished search."""

    def ask(plan: dict[str, Any]) -> SearchRun:
        run = request_search(
            knowledge_base="films", question="Whose?", plan=plan, origin=SearchRun.Origin.PAGE, enqueue=False
        )
        return run_search(run.pk)

    return ask


class Form:
    """The form of a search's plan, as somebody fills it in and presses its buttons."""

    def __init__(self, client: Client, run: SearchRun) -> None:
        self._client, self._place = client, f"/search/{run.pk}/plan/"
        self.page = client.get(self._place).content.decode()
        self.status = 200

    @property
    def fields(self) -> dict[str, str]:
        return read_fields(self.page)

    def press(self, button: str, **changed: str) -> Form:
        answer = self._client.post(self._place, self.fields | changed | {"do": button}, headers=PART)
        self.page, self.status = answer.content.decode(), answer.status_code
        return self


def test_it_opens_in_the_same_form_and_what_is_changed_is_taken_into_the_whole_plan(
    client: Client, asked: Callable[[dict[str, Any]], SearchRun]
) -> None:
    form = Form(client, asked(WHO))
    assert "found by a plan of its own" in words(form.page)
    form.press("inside 0")
    assert "What is meant by “film with the highest year”" in words(form.page)
    assert (form.fields["/target/labels"], form.fields["/order/direction"]) == ('["film"]', "desc")
    # Text, what is asked and trust are said by the whole plan alone.
    assert not {"/ask", "/target/relevance_text"} & form.fields.keys()

    form.press("outside", **{"/order/direction": "asc"})
    assert "Change the plan" in words(form.page)
    assert form.fields["/anchors/0/text"] == "film with the lowest year"
    assert json.loads(form.fields["/anchors/0/plan"])["order"]["direction"] == "asc"

    form.press("ask")
    assert form.status == 302
    plan = SearchRun.objects.latest("created").plan
    assert isinstance(plan, dict)
    assert plan["anchors"][0]["plan"]["order"] == {"by": {"field": "year"}, "direction": "asc", "limit": 1}
    assert plan["hops"][0]["rel"] == "directed by"


def test_the_buttons_inside_change_the_plan_inside_alone(
    client: Client, asked: Callable[[dict[str, Any]], SearchRun]
) -> None:
    form = Form(client, asked(WHO)).press("inside 0").press("add-filter")
    assert "/filters/0/field" in form.fields
    form.press("outside", **{"/filters/0/field": "year", "/filters/0/op": "<", "/filters/0/value": "2005"})
    assert form.status == 200
    inner = json.loads(form.fields["/anchors/0/plan"])
    assert inner["filters"] == [{"var": "F", "field": "year", "op": "<", "value": 2005}]
    assert "/filters/0/field" not in form.fields
    assert form.fields["/anchors/0/text"] == "film with year < 2005 with the highest year"


def test_it_can_be_left_as_it_was(client: Client, asked: Callable[[dict[str, Any]], SearchRun]) -> None:
    form = Form(client, asked(WHO))
    before = form.fields
    form.press("inside 0").press("back", **{"/order/direction": "asc"})
    assert form.fields == before


def test_what_cannot_be_a_plan_inside_keeps_the_form_open_and_says_why(
    client: Client, asked: Callable[[dict[str, Any]], SearchRun]
) -> None:
    form = Form(client, asked(WHO)).press("inside 0").press("drop-order")
    form.press("outside")
    assert form.status == 400
    assert "A plan inside another one needs a starting point" in words(form.page)
    assert "What is meant by" in words(form.page)
    form.press("add-filter").press("outside", **{"/filters/0/value": ""})
    assert form.status == 400
    assert "Give the condition a value" in words(form.page)


def test_plans_inside_plans_are_opened_one_after_the_other(
    client: Client, asked: Callable[[dict[str, Any]], SearchRun]
) -> None:
    form = Form(client, asked(ITS_FILMS)).press("inside 0").press("inside 0")
    assert "What is meant by “film with the highest year”" in words(form.page)
    form.press("outside", **{"/order/direction": "asc"})
    assert "What is meant by “person of the film with the highest year”" in words(form.page)
    form.press("outside")
    assert form.fields["/anchors/0/text"] == "person of the film with the lowest year"
    form.press("ask")
    plan = SearchRun.objects.latest("created").plan
    assert isinstance(plan, dict)
    assert plan["anchors"][0]["plan"]["anchors"][0]["plan"]["order"]["direction"] == "asc"


def test_asking_from_inside_asks_with_the_whole_plan(
    client: Client, asked: Callable[[dict[str, Any]], SearchRun]
) -> None:
    form = Form(client, asked(ITS_FILMS)).press("inside 0").press("inside 0")
    form.press("ask", **{"/order/direction": "asc"})
    assert form.status == 302
    plan = SearchRun.objects.latest("created").plan
    assert isinstance(plan, dict)
    assert plan["target"]["labels"] == ["film"]
    assert plan["anchors"][0]["plan"]["anchors"][0]["plan"]["order"]["direction"] == "asc"


@pytest.mark.parametrize(
    "outside",
    [
        "{", "3", "[]", "{}", '{"anchor": 0}', '{"anchor": 0, "fields": 3}', '{"anchor": 7, "fields": {}}',
        '{"anchor": -1, "fields": {"/anchors/0/var": "a"}}', '{"anchor": "0", "fields": {"/anchors/0/var": "a"}}',
        '{"anchor": true, "fields": {"/anchors/0/var": 3}}', '{"anchor": 0, "fields": {"/anchors/0/var": "a"}}',
        '{"anchor": 0, "fields": {"/anchors/0/var": "a", "/anchors/0/plan": "[[", "/outside": "{"}}', "[" * 5_000,
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "button", ["check", "outside", "back", "ask", "inside 0", "inside 9", "inside x", "add-filter"]
)
def test_whatever_is_kept_of_the_plan_around_the_form_is_drawn(
    client: Client, asked: Callable[[dict[str, Any]], SearchRun], outside: str, button: str
) -> None:
    form = Form(client, asked(WHO)).press(button, **{"/outside": outside})
    assert form.status in (200, 302, 400)


def test_an_entity_without_a_plan_of_its_own_or_with_a_broken_one_opens_nothing(
    client: Client, asked: Callable[[dict[str, Any]], SearchRun]
) -> None:
    for broken in ("", "{", '{"target": 3}', "3"):
        form = Form(client, asked(WHO)).press("inside 0", **{"/anchors/0/plan": broken})
        assert form.status == 200
        assert "Change the plan" in words(form.page)
