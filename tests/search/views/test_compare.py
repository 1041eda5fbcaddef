"""The page that compares pipelines: what asking does, what its address shows to whom, and what it refuses."""

from __future__ import annotations

import re
from copy import deepcopy
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase, SearchRun
from search.services.searches.run_search import run_search
from search.views.compare import address
from tests.search import small

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Which films did Ada Holm direct?"
ASKED = {"kb": "films", "q": QUESTION, "pipeline": ["path", "text"]}


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


@pytest.fixture
def four(films: KnowledgeBase, services: object, settings: Settings) -> KnowledgeBase:
    """The films with five pipelines, the last of which cannot be used."""
    more = {name: small.PIPELINES["text"] | {"TITLE": name.title()} for name in ("third", "fourth")}
    broken = deepcopy(small.PIPELINES["text"]) | {"TITLE": "Broken"}
    broken["STAGES"]["retrieve"]["BACKEND"] = "tests.search.small.Missing"
    settings.GRASP_PIPELINES = small.PIPELINES | more | {"broken": broken}
    wiring.forget()
    return films


def ask(client: Client, **more: Any) -> list[SearchRun]:
    """Ask a comparison and return its searches, in the order of the address."""
    answer = client.post("/compare/", ASKED | more)
    assert answer.status_code == 302, words(answer.content.decode())
    return [SearchRun.objects.get(pk=one) for one in re.findall(r"search=([0-9a-f-]{36})", answer["Location"])]


def show(client: Client, runs: list[SearchRun]) -> str:
    page = client.get(address(runs))
    assert page.status_code == 200
    return page.content.decode()


def test_asking_records_a_search_for_each_pipeline_and_leads_to_their_address(client: Client, four: object) -> None:
    runs = ask(client, pipeline=["text", "path", "third"])

    assert [(run.pipeline, run.question, run.origin, run.k) for run in runs] == [
        (name, QUESTION, SearchRun.Origin.PAGE, 20) for name in ("text", "path", "third")
    ]
    assert SearchRun.objects.count() == 3
    html = show(client, runs)
    assert html.count("Waiting for the search worker") == 3
    assert "hx-get" in html
    assert QUESTION in words(client.get("/").content.decode())


def test_asking_again_within_the_hour_uses_the_searches_that_are_there(client: Client, four: object) -> None:
    first = ask(client)
    run_search(first[0].pk)
    again = ask(client, pipeline=["text", "path", "third"])

    assert [run.pk for run in again[:2]] == [first[1].pk, first[0].pk]
    assert SearchRun.objects.count() == 3
    SearchRun.objects.filter(pk=first[0].pk).update(created=timezone.now() - timedelta(hours=2))
    SearchRun.objects.filter(pk=first[1].pk).update(status=SearchRun.Status.FAILED)
    fresh = ask(client)
    assert {run.pk for run in fresh}.isdisjoint({run.pk for run in first})


def test_searches_of_somebody_else_are_not_used_again(client: Client, four: object) -> None:
    first = ask(client)
    other = Client()
    other.force_login(User.objects.create_user("mara"))
    second = ask(other)
    assert {run.pk for run in first}.isdisjoint({run.pk for run in second})
    assert [run.pk for run in ask(other)] == [run.pk for run in second]


def test_an_address_with_a_question_asks_nothing_and_shows_what_was_asked_before(client: Client, four: object) -> None:
    page = client.get("/compare/", ASKED)
    html = page.content.decode()
    assert page.status_code == 200
    assert not SearchRun.objects.exists()
    assert re.findall(r'value="(\w+)" checked', html) == ["path", "text"]
    assert QUESTION in html
    runs = ask(client)
    assert client.get("/compare/", ASKED)["Location"] == address(runs)
    assert Client().get("/compare/", ASKED).status_code == 200
    assert SearchRun.objects.count() == 2


def test_ranks_lines_plans_and_agreement_of_finished_searches(client: Client, four: object) -> None:
    runs = ask(client)
    for run in runs:
        run_search(run.pk)
    html = show(client, runs)
    said = words(html)

    # The path's list: both films of Ada Holm, then the third film; the text's list: films 1, 2, 3. All three agree.
    assert "Path and Text : 3 of the first 3 are the same (overlap 1.00) ; rank correlation 1.00" in said
    assert html.count('<path class="same"') == 3
    assert 'd="M0 50C50 50 50 50 100 50"' in html
    assert "Amber Road: rank 1 → 1" in said
    assert "only here" not in html.split('<ol class="cmp-list">')[1]
    assert "This pipeline uses no plan." in said
    assert "entity Ada Holm (person)" in said
    assert "No language model was asked." in said
    assert "hx-get" not in html
    assert "htmx-4" not in html
    rows = [words(row) for row in re.findall(r'<tr><th scope="row">.*?</tr>', html)]
    assert rows == ["Amber Road film 1 1", "amber Light film 2 2", "Birch Street film 3 3"]


def test_one_common_result_is_said_in_the_singular() -> None:
    only = {"first": "Path", "second": "Text", "overlap": 0.1, "same": 1, "depth": 10, "correlation": None}
    said = words(render_to_string("search/_compared.html", {"comparison": {"agreement": [only]}}))
    assert "1 of the first 10 is the same (overlap 0.10)" in said


def test_one_failing_pipeline_does_not_hide_the_others(client: Client, four: object) -> None:
    runs = ask(client)
    run_search(runs[1].pk)
    error = {"title": "Vectors are away", "detail": "connection refused", "stage": "retrieve"}
    SearchRun.objects.filter(pk=runs[0].pk).update(status=SearchRun.Status.FAILED, error=error)
    said = words(show(client, runs))
    assert "Vectors are away. connection refused" in said
    assert "Amber Road" in said
    assert "hx-get" not in said


def test_the_live_part_comes_when_a_column_has_changed(client: Client, four: object) -> None:
    runs = ask(client)
    html = show(client, runs)
    [live] = re.findall(r'hx-get="([^"]+)"', html)
    live = live.replace("&amp;", "&").replace("&wait=10", "")
    assert client.get(live).status_code == 204
    run_search(runs[0].pk)
    part = client.get(live)
    assert part.status_code == 200
    assert b"<html" not in part.content
    assert b"Amber Road" in part.content
    assert b"hx-get" in part.content
    run_search(runs[1].pk)
    assert b"hx-get" not in client.get(live).content


@pytest.mark.parametrize(
    ("pipelines", "sentence"),
    [
        ([], "A comparison takes two to four pipelines; none is chosen."),
        (["path"], "A comparison takes two to four pipelines; one is chosen."),
        (["path", "text", "third", "fourth", "broken"], "two to four pipelines; 5 are chosen."),
        (["path", "path"], "&#x27;path&#x27; is chosen twice; compare different pipelines."),
        (["path", "txt"], "There is no pipeline &#x27;txt&#x27;."),
        (["path", "broken"], "Broken is off: "),
    ],
)
def test_a_choice_of_pipelines_that_cannot_be_is_refused_beside_its_field(
    client: Client, four: object, pipelines: list[str], sentence: str
) -> None:
    page = client.post("/compare/", ASKED | {"pipeline": pipelines})
    assert page.status_code == 400
    assert sentence in page.content.decode().split('id="pipeline-fault"')[1]
    assert QUESTION in page.content.decode()
    assert not SearchRun.objects.exists()


def test_an_empty_question_and_an_unknown_base_are_told_with_the_other_faults(client: Client, four: object) -> None:
    said = words(client.post("/compare/", {"kb": "fims", "q": " ", "pipeline": ["path"]}).content.decode())
    assert "The question is empty" in said
    assert "There is no knowledge base" in said
    assert "one is chosen" in said
    assert not SearchRun.objects.exists()


def test_somebody_else_s_private_base_does_not_exist_for_others(client: Client, four: KnowledgeBase) -> None:
    runs = ask(client)
    four.visibility = KnowledgeBase.Visibility.STAFF
    four.save()
    assert "There is no knowledge base" in words(client.post("/compare/", ASKED).content.decode())
    page = client.get(address(runs))
    assert page.status_code == 404
    assert "were deleted, or you may not read them" in words(page.content.decode())
    assert client.get(address(runs).replace("?", "live/?")).status_code == 404


def test_addresses_that_name_no_comparison_are_told_so(client: Client, four: object) -> None:
    runs = ask(client)
    other = ask(client, q="Who made Amber Road?")
    mixed = client.get(address([runs[0], other[0]]))
    assert mixed.status_code == 400
    assert "of different questions" in words(mixed.content.decode())
    assert client.get(address([runs[0], runs[0]])).status_code == 400
    assert client.get(address([*runs, *other, *runs])).status_code == 400
    assert client.get("/compare/?search=one&search=two").status_code == 404
    assert client.get(f"/compare/?search={uuid4()}&search={uuid4()}").status_code == 404


def test_what_is_left_of_a_comparison_is_shown_when_one_of_its_searches_was_deleted(
    client: Client, four: object
) -> None:
    runs = ask(client, pipeline=["path", "text", "third"])
    for run in runs:
        run_search(run.pk)
    at = address(runs)
    runs[2].delete()
    said = words(client.get(at).content.decode())
    assert "One search of this comparison was deleted, or you may not read it." in said
    assert "Path and Text : 3 of the first 3" in said
    runs[1].delete()
    html = client.get(at).content.decode()
    assert "2 searches of this comparison were deleted, or you may not read them." in words(html)
    assert QUESTION in html
    assert client.get(at.replace("/compare/", "/compare/live/")).status_code == 404


def test_a_search_leads_to_the_form_with_its_question_and_pipeline(client: Client, four: object) -> None:
    [run, _] = ask(client)
    run_search(run.pk)
    assert f"/compare/?search={run.pk}" in client.get(f"/search/{run.pk}/").content.decode()
    html = client.get(f"/compare/?search={run.pk}").content.decode()
    assert QUESTION in html


def test_a_single_pipeline_is_compared_with_the_one_of_the_fewest_stages_and_that_one_with_the_default(
    client: Client, four: object
) -> None:
    # `text` retrieves and explains; `path`, the default, plans as well.
    [run, _] = ask(client)
    run_search(run.pk)
    for chosen in (f"search={run.pk}", "kb=films&q=Wer%3F&pipeline=path", "kb=films&q=Wer%3F&pipeline=text"):
        html = client.get(f"/compare/?{chosen}").content.decode()
        assert sorted(re.findall(r'value="(\w+)" checked', html)) == ["path", "text"]
    html = client.get("/compare/?kb=films&pipeline=third").content.decode()
    assert sorted(re.findall(r'value="(\w+)" checked', html)) == ["text", "third"]
    html = client.get("/compare/?kb=films&pipeline=path&pipeline=text").content.decode()
    assert sorted(re.findall(r'value="(\w+)" checked', html)) == ["path", "text"]


def test_the_box_of_other_pages_leads_to_the_form_and_its_token_stays_out_of_the_address(
    client: Client, four: object
) -> None:
    answer = client.post("/compare/", {"kb": "films", "q": "Wer & was?", "pipeline": "text", "choose": "pipelines"})
    assert answer["Location"] == "/compare/?kb=films&q=Wer+%26+was%3F&pipeline=text"
    assert not SearchRun.objects.exists()


def test_a_limit_that_is_reached_in_between_loses_nothing(client: Client, four: object, settings: Settings) -> None:
    settings.GRASP_SEARCHES_PER_MINUTE = 3
    page = client.post("/compare/", ASKED | {"pipeline": ["path", "text", "third", "fourth"]})
    assert page.status_code == 429
    assert "may ask 3 searches a minute" in words(page.content.decode())
    assert page["Retry-After"]
    assert SearchRun.objects.count() == 3
    settings.GRASP_SEARCHES_PER_MINUTE = 0
    ask(client, pipeline=["path", "text", "third", "fourth"])
    assert SearchRun.objects.count() == 4
