"""Endpoints in the admin: the Test button, and the key that goes in and never comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings

from search.models import Endpoint, KnowledgeBase, LanguageModelCall
from search.models.sealed import Secret
from search.services.language_models.preview_prompt import preview_prompt
from tests import misbehaving
from tests.misbehaving import KEY, Body, Reply, Server

pytestmark = pytest.mark.django_db
LIST = "admin:search_endpoint_changelist"


@pytest.fixture
def server() -> Iterator[Server]:
    with misbehaving.running(Reply.says("ready")) as running:
        running.respond = obedient
        yield running


def obedient(body: Body) -> Reply:
    return Reply.says('{"planet": "Neptune", "moons": 14}' if "response_format" in body else "ready")


def form(server: Server, **changes: Any) -> dict[str, Any]:
    return {
        "name": "kestrel", "base_url": server.url, "model": "tiny-1", "timeout": "5", "concurrency": "2",
        "max_tokens": "256", "structured_output": "auto", "active": "on", "position": "10", **changes,
    }  # fmt: skip


def change_url(endpoint: Endpoint) -> str:
    return reverse("admin:search_endpoint_change", args=[endpoint.pk])


def saved(admin_client: Client, server: Server, **changes: Any) -> Endpoint:
    response = admin_client.post(reverse("admin:search_endpoint_add"), form(server, api_key=KEY, **changes))
    assert response.status_code == 302
    return Endpoint.objects.get()


def test_a_key_is_stored_encrypted_and_no_page_of_the_admin_shows_it(admin_client: Client, server: Server) -> None:
    endpoint = saved(admin_client, server)
    assert endpoint.api_key.reveal() == KEY
    pages = [reverse(LIST), change_url(endpoint), reverse("admin:search_endpoint_history", args=[endpoint.pk])]
    for page in pages:
        shown = admin_client.get(page).content.decode()
        assert KEY not in shown
        assert endpoint.api_key_sealed not in shown


def test_an_empty_key_keeps_the_stored_one_and_it_can_be_forgotten(admin_client: Client, server: Server) -> None:
    endpoint = saved(admin_client, server)
    admin_client.post(change_url(endpoint), form(server, model="other"))
    endpoint.refresh_from_db()
    assert (endpoint.model, endpoint.api_key.reveal()) == ("other", KEY)
    admin_client.post(change_url(endpoint), form(server, forget_key="on"))
    endpoint.refresh_from_db()
    assert endpoint.api_key_sealed == ""


MOVED = (
    "https://models.example/v1", "http://models.example:8443/v1", "http://other.example/v1",
    "http://models.example.other.example/v1", "http://sub.models.example/v1", "http://[::1]/v1",
    "http://models.example./v1", "http://xn--models-0oa.example/v1",
)  # fmt: skip
SAME = (
    "http://models.example:80/v1", "HTTP://Models.Example/v1", "http://models.example/openai/v1",
    "http://models.example/v1?api-version=2",
)  # fmt: skip


@pytest.mark.parametrize("address", MOVED)
def test_the_key_is_forgotten_when_the_address_names_another_server(
    admin_client: Client, server: Server, address: str
) -> None:
    endpoint = saved(admin_client, server, base_url="http://models.example/v1")
    page = admin_client.post(change_url(endpoint), form(server, base_url=address), follow=True).content.decode()
    endpoint = Endpoint.objects.get()
    assert (endpoint.base_url, endpoint.api_key_sealed) == (address, "")
    assert "The stored key was entered for http://models.example and has been forgotten" in page
    admin_client.post(change_url(endpoint), form(server, base_url="http://models.example/v1"))
    assert Endpoint.objects.get().api_key_sealed == "", "nor does it come back"


@pytest.mark.parametrize("address", SAME)
def test_the_key_stays_when_only_the_path_or_the_spelling_changes(
    admin_client: Client, server: Server, address: str
) -> None:
    endpoint = saved(admin_client, server, base_url="http://models.example/v1")
    page = admin_client.post(change_url(endpoint), form(server, base_url=address), follow=True).content.decode()
    assert "forgotten" not in page
    assert Endpoint.objects.get().api_key.reveal() == KEY


def test_a_key_that_is_entered_with_the_new_address_is_kept(admin_client: Client, server: Server) -> None:
    endpoint = saved(admin_client, server, base_url="http://models.example/v1")
    for key in ("sk-new-key", KEY):
        changes = {"base_url": f"http://{key}.example/v1", "api_key": key}
        page = admin_client.post(change_url(endpoint), form(server, **changes), follow=True).content.decode()
        assert "forgotten" not in page
        assert Endpoint.objects.get().api_key.reveal() == key


def test_testing_a_changed_address_sends_no_key_there(
    admin_client: Client, server: Server, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    endpoint = saved(admin_client, server, base_url="http://models.example/v1")
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(change_url(endpoint), form(server, search_endpoint_save_and_test="1"))
    assert server.headers
    assert not any("Authorization" in headers for headers in server.headers)


def test_no_other_way_to_save_keeps_the_key_for_another_server() -> None:
    def stored() -> Endpoint:
        return Endpoint.objects.get(name="kestrel")

    made = Endpoint(name="kestrel", base_url="https://models.example/v1", model="m")
    made.api_key = Secret(KEY)
    made.save()
    two, late = stored(), stored()
    for fields in (["model"], ["active", "position"]):
        two.save(update_fields=fields)
        assert stored().api_key.reveal() == KEY
    two.base_url = "https://elsewhere.example/v1"
    two.save(update_fields=["base_url"])
    assert stored().api_key_sealed == ""
    # Read before the address was changed, and saved after it: the key must not follow.
    late.base_url = "https://elsewhere.example/v1"
    late.save()
    assert stored().api_key_sealed == ""
    made.base_url = "https://elsewhere.example:8443/v1"
    made.save()
    assert stored().api_key_sealed == ""


def test_a_form_that_is_refused_does_not_say_the_key_back(admin_client: Client, server: Server) -> None:
    for changes in ({"base_url": "nonsense", "api_key": KEY}, {"api_key": f"{KEY}-schlüssel"}):
        response = admin_client.post(reverse("admin:search_endpoint_add"), form(server, **changes))
        assert response.status_code == 200
        assert KEY not in response.content.decode()
    assert not Endpoint.objects.exists()


def test_save_and_test_shows_models_latency_and_structured_output(
    admin_client: Client, server: Server, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    endpoint = saved(admin_client, server)
    with django_capture_on_commit_callbacks(execute=True):
        response = admin_client.post(change_url(endpoint), form(server, search_endpoint_save_and_test="1"))
    assert response.url == change_url(endpoint)
    shown = admin_client.get(change_url(endpoint)).content.decode()
    assert "<b>Models: </b>other, tiny-1" in shown
    assert "<b>Structured output: </b>works." in shown
    assert "&#x27;ready&#x27; in 0." in shown
    assert LanguageModelCall.objects.filter(purpose="test", endpoint=endpoint).count() == 2


def test_a_test_that_fails_says_why_without_the_key(admin_client: Client, server: Server) -> None:
    endpoint = saved(admin_client, server)
    server.respond, server.replies = None, [misbehaving.UNAUTHORISED]
    told = admin_client.post(reverse(LIST), {"action": "test_selected", "_selected_action": [endpoint.pk]}, follow=True)
    assert "kestrel: tiny-1 at kestrel does not accept the key" in told.content.decode()
    for page in (reverse(LIST), change_url(endpoint), reverse("admin:search_languagemodelcall_changelist")):
        shown = admin_client.get(page).content.decode()
        assert KEY not in shown
    assert "does not accept the key (HTTP 401): Incorrect API key provided: ***." in shown


def test_what_a_server_says_is_escaped(
    admin_client: Client, server: Server, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    server.models = Reply.json({"data": [{"id": "<script>alert(1)</script>"}]})
    endpoint = saved(admin_client, server)
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(change_url(endpoint), form(server, search_endpoint_save_and_test="1"))
    assert "<script>alert(1)" not in admin_client.get(change_url(endpoint)).content.decode()


def test_the_environments_server_has_a_page_with_a_test_button(
    admin_client: Client, server: Server, settings: Settings
) -> None:
    page = reverse("admin:search_endpoint_environment")
    assert "LLM_BASE_URL is empty" in admin_client.get(page).content.decode()
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = server.url, "tiny-1", KEY
    assert page in admin_client.get(reverse(LIST)).content.decode()
    shown = admin_client.post(page).content.decode()
    assert "<b>Structured output: </b>works." in shown
    assert KEY not in shown


def test_a_password_in_the_environments_address_is_not_shown(admin_client: Client, settings: Settings) -> None:
    settings.LLM_BASE_URL = "http://me:hunter2@127.0.0.1:9/v1"
    shown = admin_client.get(reverse("admin:search_endpoint_environment")).content.decode()
    assert "http://***@127.0.0.1:9/v1" in shown
    assert "hunter2" not in shown


def test_the_prompt_of_a_question_can_be_read_before_anybody_is_asked(
    admin_client: Client, films: KnowledgeBase, server: Server
) -> None:
    page = reverse("admin:search_endpoint_prompt")
    assert "Show the prompt" in admin_client.get(page).content.decode()
    question = "Which film did <b>Ada Holm</b> direct?"
    shown = admin_client.get(page, {"knowledge_base": "films", "question": question}).content.decode()
    [system, asked] = preview_prompt(films, question)["messages"]
    assert escape(system["content"]) in shown
    assert escape(asked["content"]) in shown
    assert server.requests == []
    assert "Select a valid choice" in admin_client.get(page, {"knowledge_base": "x", "question": "y"}).content.decode()


def test_only_staff_with_permission_comes_near(client: Client, server: Server, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("clerk", is_staff=True))
    assert client.get(reverse(LIST)).status_code == 403
    for page in ("admin:search_endpoint_environment", "admin:search_endpoint_prompt"):
        assert client.get(reverse(page)).status_code == 302
    assert client.post(reverse("admin:search_endpoint_environment")).status_code == 302
    assert server.requests == []


def test_save_and_test_is_there_before_the_first_save(
    admin_client: Client, server: Server, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    add = reverse("admin:search_endpoint_add")
    assert 'name="search_endpoint_save_and_test"' in admin_client.get(add).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        response = admin_client.post(add, form(server, search_endpoint_save_and_test="1"))
    endpoint = Endpoint.objects.get()
    assert response.url == change_url(endpoint)
    assert "<b>Models: </b>other, tiny-1" in admin_client.get(change_url(endpoint)).content.decode()
