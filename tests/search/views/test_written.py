"""The written answer in a model's words: on the result page in versions, a page of its own, by the API and by `ask`."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from grasp_site.settings import GRASP_TOOLS
from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.reword import NO_MODEL
from search.services.searches.run_search import run_search
from tests import misbehaving

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def with_the_sites_model(films: KnowledgeBase, settings: Settings) -> None:
    """The small site of these tests, which has no language model, with that of the settings."""
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "language_model": GRASP_TOOLS["language_model"]}


def asked(question: str = "Who made Amber Road?") -> SearchRun:
    run = request_search(
        knowledge_base="films", question=question, origin=SearchRun.Origin.PAGE, enqueue=False, user=None
    )
    return run_search(run.pk)


def versions(client: Client, run: SearchRun) -> list[str]:
    answer = client.get(f"/search/{run.pk}/written/", headers={"X-Page-Part": "opened"})
    assert isinstance(answer, StreamingHttpResponse)

    async def read() -> str:
        return "".join([part.decode() async for part in answer])

    # In a thread of its own: that of the tests has an event loop already where a browser was tested before.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, read()).result().removesuffix("\f").split("\f")


def test_the_page_offers_it_only_where_there_is_a_model(
    client: Client, films: KnowledgeBase, settings: Settings
) -> None:
    run = asked()
    settings.LLM_BASE_URL = ""
    assert f"/search/{run.pk}/written/" not in client.get(f"/search/{run.pk}/").content.decode()
    settings.LLM_BASE_URL = "http://127.0.0.1:1/v1"
    assert f"/search/{run.pk}/written/" in client.get(f"/search/{run.pk}/").content.decode()


def test_each_version_has_what_was_kept_so_far(client: Client, films: KnowledgeBase, settings: Settings) -> None:
    run = asked()
    sentences = ["Amber Road [1] and amber Light [2] answer this.", "Bob made them [1].", "Amber Road is a film [1]."]
    with misbehaving.running(misbehaving.streamed(json.dumps({"sentences": sentences}))) as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.url, "tiny-1"
        found = versions(client, run)
    assert "Amber Road is a film" in found[-1]
    assert "each sentence checked against its sources" in found[-1]
    assert all("Bob" not in one for one in found)
    assert all(one.startswith('<div id="written-body">') for one in found)


def test_without_an_answer_of_the_model_the_composed_sentences_stay(
    client: Client, films: KnowledgeBase, settings: Settings
) -> None:
    run = asked()
    settings.LLM_BASE_URL = ""
    [only] = versions(client, run)
    assert "Two films answer this: Amber Road" in only
    assert "No language model is set up, so these are the composed sentences." in only
    page = client.get(f"/search/{run.pk}/written/")
    assert "Two films answer this: Amber Road" in page.content.decode()
    assert f"/search/{run.pk}/#result-1" in page.content.decode()


def test_the_api_and_the_command_say_it_where_it_is_asked_for(
    client: Client, films: KnowledgeBase, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"/api/v1/searches/{asked().pk}/"
    composed = client.get(address).json()["answer"]
    assert "reworded" not in composed
    said = json.dumps({"sentences": ["Amber Road [1] is a film.", "Bob made it [1]."]})
    with misbehaving.running(misbehaving.streamed(said)) as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.url, "tiny-1"
        answer = client.get(f"{address}?reword=true").json()["answer"]
        call_command("ask", "films", "Who made Amber Road?", "--reword")
    assert ([one["text"] for one in answer["written"]], answer["reworded"]) == (
        ["Amber Road [1] is a film."], {"done": True, "because": ""},
    )  # fmt: skip
    printed = capsys.readouterr().out
    assert "Amber Road [1] is a film.\n[1] Amber Road: film; " in printed
    assert "In the words of a language model, each sentence checked." in printed

    settings.LLM_BASE_URL = ""
    answer = client.get(f"{address}?reword=true").json()["answer"]
    assert (answer["written"], answer["reworded"]) == (composed["written"], {"done": False, "because": NO_MODEL})
    assert client.get(f"{address}?reword=perhaps").json()["errors"][0]["pointer"] == "/reword"


def test_where_nothing_is_written_there_is_no_such_page(client: Client, films: KnowledgeBase) -> None:
    run = asked()
    run.status = SearchRun.Status.FAILED
    run.save()
    assert client.get(f"/search/{run.pk}/written/").status_code == 404
    assert client.get(f"/search/{uuid4()}/written/").status_code == 404
