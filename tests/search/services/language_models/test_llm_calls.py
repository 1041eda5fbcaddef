"""Endpoints, probing them, their calls as rows and as a cache, and the preview of a prompt: with a real database."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import serializers
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django.fixtures import Settings

from search.adapters.briefing_postgres import plan_prompts
from search.adapters.llm_openai import ConfiguredLanguageModel
from search.domain.conversation import Completion, Message, Prompt
from search.domain.errors import InvalidRequest, StageError
from search.domain.question import Question
from search.domain.trace import Limit
from search.models import Endpoint, KnowledgeBase, KnowledgeBaseSettings, LanguageModelCall
from search.models.sealed import Secret
from search.services.language_models.llm_calls import CACHE_DAYS, prune_calls
from search.services.language_models.preview_prompt import preview_prompt
from search.services.language_models.probe_endpoint import probe_endpoint, probe_environment
from search.services.searches.prune_runs import prune_runs
from search.stages.plan.model import ModelPlanner
from tests import misbehaving
from tests.misbehaving import KEY, Body, Reply, Server

LOG = "search.services.language_models.llm_calls.RecordedCalls"
PROMPT = Prompt((Message("user", "Who?"),), version="v1")

pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Iterator[Server]:
    with misbehaving.running(Reply.says("ready")) as running:
        yield running


def endpoint(server: Server, name: str = "kestrel", **settings: Any) -> Endpoint:
    row = Endpoint(name=name, base_url=server.url, model="tiny-1", **settings)
    row.api_key = Secret(KEY)
    row.full_clean()
    row.save()
    return row


def ask(prompt: Prompt = PROMPT, seconds: float = 5.0) -> Completion | StageError:
    [outcome] = ConfiguredLanguageModel(LOG).complete([prompt], Limit.seconds(seconds))
    return outcome


def everything_stored() -> str:
    rows = [*Endpoint.objects.all(), *LanguageModelCall.objects.all()]
    return serializers.serialize("json", rows)


def test_an_answered_call_is_a_row_with_what_it_cost(server: Server) -> None:
    row = endpoint(server)
    assert isinstance(ask(), Completion)
    call = LanguageModelCall.objects.get()
    assert (call.endpoint, call.endpoint_name, call.model, call.purpose) == (row, "kestrel", "tiny-1", "plan")
    assert (call.prompt_version, call.prompt_fingerprint) == ("v1", PROMPT.fingerprint)
    assert (call.prompt_tokens, call.completion_tokens, call.finish_reason, call.requests) == (120, 34, "stop", 1)
    assert call.seconds > 0
    assert (call.text, call.error) == ("ready", "")


def test_a_failed_call_is_a_row_with_the_reason_and_without_the_key() -> None:
    with misbehaving.running(misbehaving.UNAUTHORISED) as server:
        endpoint(server)
        outcome = ask()
    assert isinstance(outcome, StageError)
    call = LanguageModelCall.objects.get()
    assert (
        call.error
        == outcome.reason
        == ("tiny-1 at kestrel does not accept the key (HTTP 401): Incorrect API key provided: ***.")
    )
    assert KEY not in everything_stored()


def test_an_answer_that_says_the_key_back_is_stored_without_it() -> None:
    with misbehaving.running(Reply.says(f"your key is {KEY}")) as server:
        endpoint(server)
        ask()
    assert KEY not in everything_stored()


def test_the_same_prompt_is_asked_once_in_thirty_days(server: Server) -> None:
    endpoint(server)
    ask()
    again = ask()
    assert isinstance(again, Completion)
    assert (again.text, again.cached, len(server.requests)) == ("ready", True, 1)
    LanguageModelCall.objects.update(created=timezone.now() - timedelta(days=CACHE_DAYS, hours=1))
    ask()
    assert len(server.requests) == 2


def test_another_model_is_asked_anew(server: Server) -> None:
    row = endpoint(server)
    ask()
    row.model = "other"
    row.save()
    ask()
    assert [body["model"] for body in server.requests] == ["tiny-1", "other"]


def test_of_several_active_endpoints_the_lowest_position_is_asked_and_an_inactive_one_never(server: Server) -> None:
    endpoint(server, "off", position=1, active=False)
    endpoint(server, "second", position=3)
    endpoint(server, "first", position=2)
    ask()
    assert LanguageModelCall.objects.get().endpoint_name == "first"


def test_without_a_row_the_environment_names_the_server(server: Server, settings: Settings) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = server.url, "env-model", KEY
    assert isinstance(ask(), Completion)
    call = LanguageModelCall.objects.get()
    assert (call.endpoint, call.endpoint_name, call.model) == (None, "the environment's server", "env-model")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_without_either_the_reason_says_what_to_set(settings: Settings) -> None:
    settings.LLM_BASE_URL = ""
    with pytest.raises(StageError, match="set LLM_BASE_URL and LLM_MODEL, or add an endpoint") as caught:
        ask()
    assert caught.value.permanent


def test_a_key_that_another_secret_key_sealed_is_a_sentence(server: Server, settings: Settings) -> None:
    endpoint(server)
    settings.SECRET_KEY = "another"
    with pytest.raises(StageError, match="the key of kestrel cannot be read: SECRET_KEY has changed"):
        ask()


@pytest.mark.parametrize(
    "url", ["", "kestrel", "ftp://h", "http://", "http://user:pw@h/v1", "http://[x", "http://h/a b"]
)
def test_an_address_that_is_none_or_holds_a_password_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        Endpoint(name="a", base_url=url, model="m").full_clean()


def test_old_calls_are_pruned(server: Server) -> None:
    endpoint(server)
    ask()
    assert prune_calls(90) == 0
    LanguageModelCall.objects.update(created=timezone.now() - timedelta(days=91))
    assert prune_calls(90) == 1


def test_forgetting_old_searches_forgets_the_calls_that_are_as_old(server: Server) -> None:
    endpoint(server)
    ask()
    ask(Prompt((Message("user", "When?"),)))
    LanguageModelCall.objects.filter(prompt_version="v1").update(created=timezone.now() - timedelta(days=6))
    prune_runs(5)
    assert [call.prompt_version for call in LanguageModelCall.objects.all()] == [""]


def obedient(body: Body) -> Reply:
    return Reply.says('{"planet": "Neptune", "moons": 14}' if "response_format" in body else "ready")


def test_a_probe_shows_models_latency_and_that_structured_output_works(server: Server) -> None:
    server.respond = obedient
    row = endpoint(server)
    report = probe_endpoint(row)
    assert report.works
    assert (report.models, report.listed, report.answer, report.structured) == (
        ["other", "tiny-1"],
        True,
        "ready",
        True,
    )
    assert report.seconds is not None
    row.refresh_from_db()
    assert row.tested["structured"] is True
    assert KEY not in everything_stored()


def test_a_probe_asks_the_server_again_each_time(server: Server) -> None:
    server.respond = obedient
    row = endpoint(server)
    probe_endpoint(row)
    probe_endpoint(row)
    assert len(server.requests) == 4


def test_a_probe_tells_a_server_that_does_not_hold_its_model_to_the_schema(server: Server) -> None:
    report = probe_endpoint(endpoint(server))
    assert report.works
    assert (report.structured, report.structured_note) == (
        False, "The server takes the request, but the model's answer does not follow the schema."
    )  # fmt: skip


def test_a_probe_of_a_model_that_the_server_does_not_list_says_so(server: Server) -> None:
    server.models = Reply.json({"data": [{"id": "another"}]})
    report = probe_endpoint(endpoint(server))
    assert report.models_note == "'tiny-1' is not among the 1 models that the server lists."


@pytest.mark.parametrize("reply", [misbehaving.UNAUTHORISED, misbehaving.HTML, misbehaving.SLOW])
def test_a_probe_of_a_server_that_misbehaves_is_a_report_without_the_key(
    reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), misbehaving.running(reply) as server:
        server.models = reply
        report = probe_endpoint(endpoint(server), seconds=1.5)
    assert not report.works
    assert report.error.startswith("tiny-1 at kestrel ")
    assert KEY not in f"{report!r} {caplog.text} {everything_stored()}"


def test_the_environments_server_can_be_probed_without_a_row(server: Server, settings: Settings) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = server.url, "tiny-1", KEY
    report = probe_environment()
    assert report is not None
    assert report.works
    settings.LLM_BASE_URL = ""
    assert probe_environment() is None


def test_the_preview_is_the_prompt_that_is_sent(films: KnowledgeBase) -> None:
    preview = preview_prompt(films, "Which film did Ada Holm direct?")
    written = {
        "anchors": [{"var": "A1", "text": "Ada Holm", "label": "Person"}],
        "hops": [{"from": "A1", "rel": "Directed By", "to_var": "T", "to_label": "films"}],
        "target": {"var": "T", "labels": ["film"]},
    }
    with misbehaving.running(Reply.says(json.dumps(written))) as server:
        endpoint(server)
        assert films.active_release is not None
        prompts = plan_prompts(films.active_release)
        planner = ModelPlanner(ConfiguredLanguageModel(LOG), prompts, prompts.briefing.schema)
        [scored] = planner(Question("Which film did Ada Holm direct?"), Limit.seconds(5))
    assert server.requests[0]["messages"] == preview["messages"]
    assert scored.plan.hops[0].rel == "directed by"
    assert LanguageModelCall.objects.get().prompt_version == preview["version"]
    system = preview["messages"][0]["content"]
    assert '"Amber Road"' in system
    assert "- film -directed by-> person (3 edges)" in system
    assert preview["guidance"] == "generic"


def test_new_guidance_of_a_knowledge_base_is_in_the_next_prompt(films: KnowledgeBase) -> None:
    before = preview_prompt(films, "x")
    films.active_settings = KnowledgeBaseSettings.objects.create(
        knowledge_base=films, version=1, values={"guidance": "- A film is a person's work."}
    )
    films.save()
    after = preview_prompt(films, "x")
    assert after["guidance"] == "own"
    assert "- A film is a person's work." in after["messages"][0]["content"]
    assert after["version"] != before["version"]


def test_a_knowledge_base_without_a_release_has_no_prompt_to_show() -> None:
    with pytest.raises(InvalidRequest, match="has no active release"):
        preview_prompt(KnowledgeBase.objects.create(name="empty"), "x")
