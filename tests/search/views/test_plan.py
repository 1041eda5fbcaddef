"""The page on which a search's plan is changed."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.conftest import PROJECT

pytestmark = pytest.mark.django_db(transaction=True)
PART = {"X-Page-Part": "plan"}


@pytest.fixture
def run(films: KnowledgeBase, services: object) -> SearchRun:
    """A finished search: films directed by Ada Holm."""
    asked = request_search(
        knowledge_base="films", question="What did Ada Holm direct?", origin=SearchRun.Origin.PAGE, enqueue=False
    )
    return run_search(asked.pk)


@pytest.fixture
def form(client: Client, run: SearchRun) -> Callable[..., dict[str, str]]:
    """The fields of the form as a page shows them, with what somebody changes."""

    def fields(page: str = "", **changed: str) -> dict[str, str]:
        return read_fields(page or client.get(f"/search/{run.pk}/plan/").content.decode()) | changed

    return fields


def read_fields(page: str) -> dict[str, str]:
    """Return what a browser would send of the form."""
    form = page[page.index("data-plan-editor") : page.index("</form>", page.index("data-plan-editor"))]
    found = {
        html.unescape(name): html.unescape(value)
        for name, value in re.findall(r'<input[^>]*? name="([^"]*)" value="([^"]*)"', form)
    }
    found |= {
        html.unescape(name): html.unescape(value)
        for value, name in re.findall(r'<input[^>]*? id="[^"]*" value="([^"]*)"[^>]* name="([^"]*)"', form)
    }
    for name, options in re.findall(r'<select[^>]*? name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        [chosen] = re.findall(r'<option value="([^"]*)" selected', options)
        found[html.unescape(name)] = html.unescape(chosen)
    for name, value in re.findall(r'<input[^>]*? name="([^"]*/value2?)"[^>]*? value="([^"]*)"', form):
        found[name] = html.unescape(value)
    found.pop("csrfmiddlewaretoken", None)
    return found


def words(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_the_form_holds_the_whole_plan(client: Client, run: SearchRun, form: Callable[..., dict[str, str]]) -> None:
    page = client.get(f"/search/{run.pk}/plan/").content.decode()

    fields = form(page)
    assert fields["/anchors/0/text"] == "Ada Holm"
    assert fields["/anchors/0/label"] == "person"
    assert fields["/hops/0/rel"] == "in directed by"
    assert fields["/target/labels"] == '["film"]'
    assert fields["/risk_level"] == "normal"
    assert "It can run." in words(page)
    assert "<script>" not in page
    assert "style=" not in page


def test_the_search_page_leads_to_it(client: Client, run: SearchRun) -> None:
    page = client.get(f"/search/{run.pk}/").content.decode()

    assert f'href="/search/{run.pk}/plan/" data-edit-plan' in page


def test_running_it_again_asks_the_same_question_with_the_plan_and_no_planner(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = form(**{"/target/relevance_text": "in the forest", "do": "ask"})
    answer = client.post(f"/search/{run.pk}/plan/", sent)

    # Nobody takes searches here, so the door says that; the search itself is recorded either way.
    assert answer.status_code in (302, 503)
    asked = SearchRun.objects.exclude(pk=run.pk).get()
    assert (asked.question, asked.pipeline, asked.k) == (run.question, run.pipeline, run.k)
    assert asked.plan["target"]["relevance_text"] == "in the forest"
    SearchRun.objects.filter(pk=asked.pk).update(status=SearchRun.Status.QUEUED, error=None)
    run_search(asked.pk)
    page = client.get(f"/search/{asked.pk}/").content.decode()
    assert "This plan was given with the question" in page


def test_a_wrong_edit_shows_its_fault_beside_the_chip_and_keeps_everything(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]]
) -> None:
    sent = form(**{"/anchors/0/label": "film", "/target/relevance_text": "kept", "do": "ask"})
    answer = client.post(f"/search/{run.pk}/plan/", sent)

    page = answer.content.decode()
    assert answer.status_code == 400
    assert re.search(r'id="hop-0-faults"><span class="fault">directed by does not lead from film to film', page)
    assert form(page)["/target/relevance_text"] == "kept"
    assert form(page)["/anchors/0/label"] == "film"
    assert SearchRun.objects.count() == 1


@pytest.mark.parametrize("adding", ["add-anchor", "add-filter"])
def test_what_is_still_to_be_filled_in_hides_no_fault(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]], adding: str
) -> None:
    sent = form(**{"/anchors/0/label": "film", "do": adding})
    page = client.post(f"/search/{run.pk}/plan/", sent, headers=PART).content.decode()

    assert re.search(r'id="hop-0-faults"><span class="fault">directed by does not lead from film to film', page)
    assert "1 thing to mend before it can run." in page


def test_names_are_offered_and_a_picked_one_is_tied(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]]
) -> None:
    place = f"/search/{run.pk}/plan/"
    page = client.post(place, form(**{"/anchors/0/text": "odd 3", "do": "look 0"}), headers=PART).content.decode()
    [offer] = [html.unescape(o) for o in re.findall(r'class="offer" id="[^"]*" name="do" value="([^"]*)"', page)]
    assert json.loads(offer.removeprefix("pick ")) == [0, "ä→🎬", "Odd 3", "person"] or "Odd 3" in offer

    picked = form(client.post(place, form(page, do=offer), headers=PART).content.decode())
    assert picked["/anchors/0/text"] == "Odd 3"
    assert len(json.loads(picked["/anchors/0/ids"])) == 1


def test_an_entity_of_another_type_is_offered_where_its_own_has_none(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]]
) -> None:
    sent = form(**{"/anchors/0/text": "amber", "do": "look 0"})
    page = client.post(f"/search/{run.pk}/plan/", sent, headers=PART).content.decode()

    assert page.count('class="offer"') == 2
    assert "No name has a word that begins so." in client.post(
        f"/search/{run.pk}/plan/", form(**{"/anchors/0/text": "zzz", "do": "look 0"}), headers=PART
    ).content.decode()  # fmt: skip


def test_conditions_are_added_typed_by_the_schema_and_taken_out(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]]
) -> None:
    place = f"/search/{run.pk}/plan/"
    page = client.post(place, form(do="add-filter"), headers=PART).content.decode()
    fields = form(page)
    assert (fields["/filters/0/field"], fields["/filters/0/op"], fields["/filters/0/value"]) == ("year", ">=", "")
    assert "Something is still to be filled in." in words(page)

    wrong = client.post(place, fields | {"/filters/0/value": "old", "do": "check"}, headers=PART).content.decode()
    assert re.search(r'id="filter-0-faults"><span class="fault">year holds a number, not a string', wrong)
    blank = client.post(place, fields | {"do": "ask"}, headers=PART)
    assert blank.status_code == 400
    assert "Give the condition a value" in blank.content.decode()
    gone = client.post(place, fields | {"do": "drop-filter 0"}, headers=PART).content.decode()
    assert "/filters/0" not in gone


def test_dropping_the_only_hop_leaves_a_search_of_documents(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]]
) -> None:
    page = client.post(f"/search/{run.pk}/plan/", form(do="drop-hop 0"), headers=PART).content.decode()

    assert "/anchors/0" not in page
    assert "It can run." in words(page)


@pytest.mark.parametrize(
    "do",
    ["drop-hop 7", "drop-hop -1", "drop-anchor x", "drop-", "pick", 'pick [9, "a", "b", "c"]', "pick {", "look 44",
     "fly", 'pick [0, "nothing", "x", "person"]', ""],
)  # fmt: skip
def test_buttons_that_are_not_there_do_no_harm(
    client: Client, run: SearchRun, form: Callable[..., dict[str, str]], do: str
) -> None:
    answer = client.post(f"/search/{run.pk}/plan/", form(do=do))

    assert answer.status_code == 200
    assert "data-plan-editor" in answer.content.decode()


def test_hostile_fields_are_text(client: Client, run: SearchRun, form: Callable[..., dict[str, str]]) -> None:
    hostile = '"><script>alert(1)</script>\x00'
    for name in form():
        answer = client.post(f"/search/{run.pk}/plan/", form(**{name: hostile, "do": "ask"}))
        assert answer.status_code in (200, 302, 400, 503), name
        assert "<script>alert" not in answer.content.decode()


def test_who_may_not_see_the_search_may_not_change_its_plan(client: Client, run: SearchRun) -> None:
    KnowledgeBase.objects.update(visibility=KnowledgeBase.Visibility.STAFF)

    assert client.get(f"/search/{run.pk}/plan/").status_code == 404
    assert client.post(f"/search/{run.pk}/plan/", {"do": "ask"}).status_code == 404


def test_plans_that_are_not_there_are_not_found(client: Client, run: SearchRun, films: KnowledgeBase) -> None:
    for number in ("2", "0", "x", "-1", "99999999"):
        answer = client.get(f"/search/{run.pk}/plan/?plan={number}")
        assert answer.status_code == 404, number
    assert client.get(f"/search/{uuid4()}/plan/").status_code == 404
    assert client.get(f"/search/{run.pk}/plan/", headers=PART).status_code == 200
    assert client.put(f"/search/{run.pk}/plan/").status_code == 405


def test_the_script_is_a_file_of_ours_and_no_expression() -> None:
    script = (PROJECT / "static" / "search" / "plan.js").read_text(encoding="utf-8")

    assert not re.search(r"\beval\(|new Function|innerHTML", script)


def test_a_second_plan_can_be_taken(client: Client, run: SearchRun, form: Callable[..., Any]) -> None:
    step = run.steps.get(name="plan")
    other = json.loads(json.dumps(step.output[0]))
    other["plan"]["target"]["relevance_text"] = "the other one"
    step.output.append(other)
    step.save()

    page = client.get(f"/search/{run.pk}/plan/?plan=2").content.decode()
    assert form(page)["/target/relevance_text"] == "the other one"
    results = client.get(f"/search/{run.pk}/").content.decode()
    assert "1 other plan tried" in words(results)
    assert f'href="/search/{run.pk}/plans/" data-later' in results
    others = client.get(f"/search/{run.pk}/plans/").content.decode()
    part = client.get(f"/search/{run.pk}/plans/", headers=PART).content.decode()
    for shown in (others, part):
        assert f"/search/{run.pk}/plan/?plan=2" in shown
        assert "the other one" in words(shown)
    assert "<h1" in others
    assert "<h1" not in part
