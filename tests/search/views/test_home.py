"""The search page: what it offers, and what asking does."""

import json
import re

import pytest
from django.test import Client

from search.models import KnowledgeBase, SearchRun
from tests.search import small

pytestmark = pytest.mark.django_db


def text_of(html: str) -> str:
    """The words of a page, without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_a_site_without_knowledge_bases_says_how_to_get_one(client: Client, small_pipelines: object) -> None:
    page = client.get("/")

    assert page.status_code == 200
    assert "No knowledge base yet" in page.content.decode()
    assert "/admin/search/knowledgebase/import/" in page.content.decode()
    assert "manage.py" not in page.content.decode()


def test_the_page_offers_knowledge_bases_with_examples_and_pipelines(client: Client, films: KnowledgeBase) -> None:
    html = client.get("/").content.decode()

    assert '<option value="films" selected>Films</option>' in html
    assert '<option value="path" selected>Path</option>' in html
    assert '<button name="q" value="Who made Amber Road?">' in html
    assert "Reads documents." in html


def test_knowledge_bases_that_one_may_not_see_are_not_offered(client: Client, films: KnowledgeBase) -> None:
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()

    assert "Films" not in client.get("/").content.decode()


@pytest.mark.usefixtures("services")
def test_asking_records_the_search_and_leads_to_its_own_address(client: Client, films: KnowledgeBase) -> None:
    answer = client.post("/", {"kb": "films", "q": "Who made Amber Road?", "pipeline": "text"})

    run = SearchRun.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == f"/search/{run.pk}/"
    assert (run.question, run.knowledge_base_name, run.pipeline) == ("Who made Amber Road?", "films", "text")
    assert run.origin == SearchRun.Origin.PAGE


def test_an_address_with_a_question_fills_the_box_and_asks_nothing(client: Client, films: KnowledgeBase) -> None:
    page = client.get("/", {"kb": "films", "q": "Who made <Amber> Road?", "pipeline": "text"})

    html = page.content.decode()
    assert page.status_code == 200
    assert "Who made &lt;Amber&gt; Road?</textarea>" in html
    assert '<option value="text" selected>' in html
    assert not SearchRun.objects.exists()
    assert "visitor" not in client.cookies


@pytest.mark.usefixtures("services")
def test_recent_searches_of_the_session_are_listed_newest_first_and_once(client: Client, films: KnowledgeBase) -> None:
    for question in ("first?", "second?", "first?"):
        client.post("/", {"kb": "films", "q": question})

    listed = re.findall(r'<li><a href="/search/[^"]+">([^<]+)</a>', client.get("/").content.decode())
    assert listed == ["first?", "second?"]
    assert "first?" not in Client().get("/").content.decode()


@pytest.mark.parametrize(
    ("fields", "beside", "message"),
    [
        ({"kb": "films", "q": "  \u200b "}, "q-fault", "The question is empty"),
        ({"kb": "films", "q": "x" * 10_000}, "q-fault", "10,000 characters"),
        ({"kb": "fims", "q": "who?"}, "kb-fault", "There is no knowledge base"),
        ({"kb": "films", "q": "who?", "pipeline": "pth"}, "pipeline-fault", "There is no pipeline"),
    ],
)
def test_bad_input_is_explained_beside_its_field_and_leaves_no_search(
    client: Client, films: KnowledgeBase, fields: dict[str, str], beside: str, message: str
) -> None:
    page = client.post("/", fields)

    html = page.content.decode()
    assert page.status_code == 400
    said = re.search(rf'id="{beside}">(.*?)</p>', html, re.DOTALL)
    assert said is not None
    assert message in text_of(said.group(1))
    assert f'aria-describedby="{beside}"' in html
    assert not SearchRun.objects.exists()


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("{not json", "The plan is not JSON"),
        ("[" * 100_000, "The plan is not JSON"),
        ('{"hops": [{"from": "a", "rel": "directd by", "to_var": "T", "to_label": "film"}]}', "Did you mean"),
    ],
)
def test_a_plan_that_does_not_fit_is_explained_and_given_back(
    client: Client, films: KnowledgeBase, plan: str, message: str
) -> None:
    page = client.post("/", {"kb": "films", "q": "who?", "plan": plan})

    html = page.content.decode()
    assert page.status_code == 400
    assert message in html
    assert '<textarea id="plan"' in html


@pytest.mark.usefixtures("services")
def test_a_plan_that_fits_is_asked_with(client: Client, films: KnowledgeBase) -> None:
    answer = client.post("/", {"kb": "films", "q": "who?", "plan": json.dumps(small.PLAN.to_json())})

    assert answer.status_code == 302
    assert SearchRun.objects.get().plan == small.PLAN.to_json()


@pytest.mark.usefixtures("services")
def test_what_was_typed_is_shown_as_text(client: Client, films: KnowledgeBase) -> None:
    hostile = "\"><script>alert(1)</script>{{ 7*7 }} ‮ ' OR 1=1 --"

    answer = client.post("/", {"kb": "films", "q": hostile, "pipeline": "nothing"})

    html = answer.content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7*7 }}" in html


def test_a_form_without_its_token_is_refused_with_a_page_of_ours(films: KnowledgeBase) -> None:
    page = Client(enforce_csrf_checks=True).post("/", {"kb": "films", "q": "who?"})

    assert page.status_code == 403
    assert "The form was too old" in page.content.decode()


@pytest.mark.parametrize("address", ["/nothing/", "/search/00000000-0000-4000-8000-000000000000/", "/kb/none/nodes/x/"])
def test_addresses_that_lead_nowhere_get_a_page_of_ours(client: Client, films: KnowledgeBase, address: str) -> None:
    page = client.get(address)

    assert page.status_code == 404
    assert "Nothing here" in page.content.decode()


def test_pages_send_a_policy_that_forbids_what_is_inline_and_what_is_elsewhere(
    client: Client, films: KnowledgeBase
) -> None:
    page = client.get("/")

    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert "unsafe" not in page["Content-Security-Policy"]
    html = page.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|(?:src|href)=\"(?:https?:)?//", html)
