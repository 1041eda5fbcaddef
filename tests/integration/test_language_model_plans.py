"""Searches with a language model beside the grammar: real Postgres, real HTTP, a server that does as it is told."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core import serializers
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import Endpoint, LanguageModelCall, SearchRun
from search.models.sealed import Secret
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from search.services.warm_up import warm_up
from tests import misbehaving
from tests.misbehaving import KEY, Reply, Server
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db

QUESTION = "Which films did Ada Holm direct in this millennium?"
NODES = (
    *bundles.NODES,
    {"id": "f3", "type": "film", "name": "Cedar Lane", "fields": {"plot": "A lane of cedars.", "year": 2004}},
    {"id": "p2", "type": "person", "name": "Bo Lind", "fields": {}},
)
EDGES = (*bundles.EDGES, {"source": "f3", "relation": "DIRECTED_BY", "target": "p2"})
WRITTEN: dict[str, Any] = {
    "anchors": [{"var": "who", "text": "Ada Holm", "label": "person", "match_mode": "name"}],
    "hops": [{"from": "who", "rel": "DIRECTED_BY", "to_var": "T", "to_label": "film"}],
    "target": {"var": "T", "labels": ["film"], "relevance_text": ""},
    "filters": [{"var": "T", "field": "year", "op": ">", "value": 2000}],
    "risk_level": "aggressive",
}
"""Of the two films by Ada Holm, `f1` (2011) and `f2` (1999), it finds the first."""
NOTHING_FOUND = WRITTEN | {"filters": [{"var": "T", "field": "year", "op": ">", "value": 2100}]}


@pytest.fixture
def films(tmp_path: Path, settings: Settings) -> Iterator[None]:
    """The films, indexed with vectors that mean nothing."""
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=bundles.write(tmp_path, NODES, EDGES))
    yield
    wiring.forget()
    wiring.encoder.cache_clear()


def configured(url: str) -> Endpoint:
    row = Endpoint(name="kestrel", base_url=url, model="tiny-1")
    row.api_key = Secret(KEY)
    row.save()
    return row


def search(question: str = QUESTION, *, plan: Any = None, **options: Any) -> SearchRun:
    asked = {f"plan.{name}": value for name, value in options.items()}
    run = request_search(knowledge_base="films", question=question, plan=plan, settings=asked, enqueue=False)
    return run_search(run.pk)


def page(path: str) -> str:
    answer = Client().get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def results(run: SearchRun) -> str:
    return f"/search/{run.pk}/"


def everything_kept(run: SearchRun) -> str:
    """Return every row that a search leaves, and every page and answer of the API that shows it, as one text."""
    rows = [*SearchRun.objects.all(), *run.steps.all(), *LanguageModelCall.objects.all(), *Endpoint.objects.all()]
    shown = [
        page(path)
        for path in (f"{results(run)}trace/", f"{results(run)}plans/", f"/api/v1/searches/{run.pk}/", results(run))
    ]
    return "\n".join([serializers.serialize("json", rows), json.dumps(describe_search(run)), *shown])


def test_the_models_plan_joins_the_list_and_what_it_finds_comes_first(films: None) -> None:
    with misbehaving.running(Reply.says(json.dumps(WRITTEN))) as server:
        configured(server.url)
        run = search()
    shown = describe_search(run)
    assert (shown["status"], shown["degraded"]) == ("done", [])
    assert {entry["source"] for entry in shown["plans"]} == {"schema", "llm"}
    [written] = [entry for entry in shown["plans"] if entry["source"] == "llm"]
    assert (written["found"], written["probability"]) == (1, 0.45)
    assert written["plan"]["filters"] == WRITTEN["filters"]
    # What is missing to 1 is the probability that none of the plans is right.
    assert 0.45 < sum(entry["probability"] for entry in shown["plans"]) <= 1.0
    assert ranking_of(run)[0][0] == "f1"
    step = shown["steps"][0]
    assert (step["detail"], step["tokens"]) == (
        "The language model's plan joined the list.", {"calls": 1, "prompt": 120, "completion": 34}
    )  # fmt: skip
    assert step["prompt_fingerprint"] == LanguageModelCall.objects.get().prompt_version != ""
    kept = everything_kept(run)
    assert "written by a language model" in kept
    assert "read without AI" in kept
    assert "Tokens: 120 prompt, 34 completion." in kept
    assert KEY not in kept


def test_a_plan_that_finds_nothing_never_beats_one_that_does(films: None) -> None:
    alone = search()
    with misbehaving.running(Reply.says(json.dumps(NOTHING_FOUND))) as server:
        configured(server.url)
        run = search(llm_weight=0.9)
    best = describe_search(run)["plans"][0]
    assert (best["source"], best["found"]) == ("llm", 0)
    assert [node for node, _ in ranking_of(run)] == [node for node, _ in ranking_of(alone)]


def test_a_server_that_is_added_while_searches_run_is_asked_by_the_next(films: None) -> None:
    with misbehaving.running(Reply.says(json.dumps(WRITTEN))) as server:
        before = search()
        row = configured(server.url)
        after = search()
        Endpoint.objects.filter(pk=row.pk).update(active=False)
        search()
    assert {entry["source"] for entry in describe_search(before)["plans"]} == {"schema"}
    assert describe_search(before)["degraded"] == []
    assert "llm" in {entry["source"] for entry in describe_search(after)["plans"]}
    assert len(server.requests) == 1


def test_neither_a_plan_with_the_question_nor_the_option_off_nor_warming_up_asks_the_model(films: None) -> None:
    with misbehaving.running(Reply.says(json.dumps(WRITTEN))) as server:
        configured(server.url)
        given = search(plan=WRITTEN)
        search(llm="off")
        warm_up()
    assert server.requests == []
    assert [entry["source"] for entry in describe_search(given)["plans"]] == ["user"]


def nobody() -> str:
    """Return the address of a port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@dataclass(frozen=True)
class Misbehaviour:
    """What a server does, and the words by which the page says so; `reply` is None where it is down."""

    reply: Reply | None
    said: str


MISBEHAVIOURS = {
    "down": Misbehaviour(None, "tiny-1 at kestrel cannot be reached"),
    "slow": Misbehaviour(misbehaving.SLOW, "did not answer within"),
    "dripping": Misbehaviour(misbehaving.DRIPPING, "did not answer within"),
    "HTML": Misbehaviour(misbehaving.HTML, "answered with a web page instead of JSON"),
    "half a JSON": Misbehaviour(misbehaving.HALF_JSON, "something that is not JSON, or JSON that breaks off"),
    "cut off": Misbehaviour(misbehaving.CUT_OFF, "broke the connection off"),
    "wrong schema": Misbehaviour(misbehaving.WRONG_SCHEMA, "answers without choices"),
    "no choice": Misbehaviour(misbehaving.NO_CHOICES, "gave an empty answer"),
    "empty choice": Misbehaviour(misbehaving.EMPTY_CHOICE, "gave an empty answer"),
    "error in a 200": Misbehaviour(misbehaving.ERROR_IN_200, "reported an error: model crashed while serving ***"),
    "endless": Misbehaviour(misbehaving.ENDLESS, "without coming to an end"),
    "401": Misbehaviour(misbehaving.UNAUTHORISED, "does not accept the key (HTTP 401): Incorrect API key provided"),
    "503": Misbehaviour(misbehaving.FAILING, "failed (HTTP 503): out of memory"),
    "wait an hour": Misbehaviour(misbehaving.TOO_MANY_FOR_LONG, "asks to wait 3600 seconds"),
    "half a plan": Misbehaviour(Reply.says('{"anchors": [{"var": "a'), "wrote no plan that can be executed"),
    "no plan": Misbehaviour(Reply.says(f"My key is {KEY}."), "wrote no plan that can be executed"),
}
SECONDS = 0.8
"""What the model has here. A server whose failure may pass is asked again after 0.2 to 0.4 seconds."""
BUSY_SECONDS = 4.0
"""By how much a busy machine may be late."""


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_whatever_the_server_does_the_enumeration_answers_in_time_and_the_page_says_why(
    films: None, name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    behaviour = MISBEHAVIOURS[name]
    with caplog.at_level(logging.DEBUG), misbehaving.running(behaviour.reply or Reply()) as server:
        configured(server.url if behaviour.reply else nobody())
        run = search(llm_seconds=SECONDS, llm_rounds=0)
    shown = describe_search(run)
    assert shown["status"] == "done"
    assert run.seconds is not None
    assert run.seconds < SECONDS + BUSY_SECONDS
    assert {entry["source"] for entry in shown["plans"]} == {"schema"}
    assert {node for node, _ in ranking_of(run)[:2]} == {"f1", "f2"}
    [degraded] = shown["degraded"]
    assert degraded["stage"] == "plan"
    assert degraded["reason"].startswith("Planned without the language model: ")
    assert behaviour.said in degraded["reason"]
    kept = everything_kept(run)
    assert "Planned without the language model: " in page(results(run))
    out, err = capfd.readouterr()
    assert KEY not in kept + caplog.text + out + err


def test_a_model_that_writes_the_key_into_its_plan_does_not_have_it_shown(films: None) -> None:
    with misbehaving.running(Reply.says(json.dumps(WRITTEN).replace("Ada Holm", f"Ada {KEY}"))) as server:
        configured(server.url)
        run = search()
    [written] = [entry["plan"] for entry in describe_search(run)["plans"] if entry["source"] == "llm"]
    assert written["anchors"][0]["text"] == "Ada ***"
    assert KEY not in everything_kept(run)


def test_a_search_with_little_time_is_answered_within_it(films: None) -> None:
    with misbehaving.running(misbehaving.SLOW) as server:
        configured(server.url)
        run = request_search(knowledge_base="films", question=QUESTION, time_limit=2.0, enqueue=False)
        done = run_search(run.pk)
    assert done.status == "done"
    assert done.seconds is not None
    # The graph has six tenths of the time, the model half of that.
    assert 0.4 < done.seconds < 2.0


def test_a_server_of_the_environment_shows_neither_its_key_nor_its_password(films: None, settings: Settings) -> None:
    settings.LLM_BASE_URL = nobody().replace("//", "//me:hunter2-hunter2@")
    settings.LLM_MODEL, settings.LLM_API_KEY = "tiny-1", KEY
    run = search(llm_seconds=0.3)
    assert [item["stage"] for item in describe_search(run)["degraded"]] == ["plan"]
    kept = everything_kept(run)
    assert KEY not in kept
    assert "hunter2" not in kept


def hurried(server: Server) -> Endpoint:
    """Return a server whose own limit is shorter than what the search grants it."""
    row = configured(server.url)
    Endpoint.objects.filter(pk=row.pk).update(timeout=0.2)
    return row


def test_the_servers_own_time_limit_counts_too(films: None) -> None:
    with misbehaving.running(misbehaving.SLOW) as server:
        hurried(server)
        run = search(llm_seconds=0.5)
    assert "did not answer within" in describe_search(run)["degraded"][0]["reason"]
