"""Below /api/ every answer is for programs, also what no view of the API has answered; elsewhere it is a page."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db
STRICT: dict[str, Any] = {"enforce_csrf_checks": True, "raise_request_exception": False}


def problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    found = answer.json()
    assert (found["status"], bool(found["request_id"])) == (status, True)
    return found


@pytest.mark.parametrize(
    "path", ["/api/", "/api/v2/searches/", "/api/nothing", "/api/v1/nothing/", "/api/v1/searches/5/", "/api/schema/x"]
)
@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "options", "trace"])
def test_an_address_that_leads_nowhere_is_a_problem_by_every_method(path: str, method: str) -> None:
    problem(getattr(Client(**STRICT), method)(path), 404)


def test_a_browsers_request_without_its_csrf_token_is_a_problem() -> None:
    client = Client(**STRICT)
    client.force_login(User.objects.create_user("member"))
    body = '{"knowledge_base": "films", "question": "Who?"}'
    found = problem(client.post("/api/v1/searches/", body, content_type="application/json"), 403)
    assert "CSRF" in found["detail"]


def test_a_page_that_is_refused_says_for_whom_it_is(client: Client) -> None:
    client.force_login(User.objects.create_user("reader"))
    page = client.get("/gallery/")
    assert page.status_code == 403
    assert "The gallery is for staff. Signing in with another account may help." in page.content.decode()


def test_a_host_that_is_not_ours_is_a_problem_below_the_api_and_a_page_elsewhere() -> None:
    client = Client(**STRICT)
    problem(client.get("/api/v1/pipelines", headers={"Host": "evil.example"}), 400)
    page = client.get("/status", headers={"Host": "evil.example"})
    assert (page.status_code, page["Content-Type"]) == (400, "text/html; charset=utf-8")


def test_what_breaks_outside_of_a_view_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: Any) -> Any:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr("search.views.status.system_status", broken)
    monkeypatch.setattr(
        "django.middleware.common.CommonMiddleware.process_request", lambda self, request: broken(request)
    )
    problem(Client(**STRICT).get("/api/v1/healthz/"), 500)
    page = Client(**STRICT).get("/status/")
    assert (page.status_code, page["Content-Type"]) == (500, "text/html; charset=utf-8")


@pytest.mark.parametrize("accepted", ["text/html", "application/xml", "*/*;q=0", "nonsense"])
@pytest.mark.parametrize("path", ["/api/v1/pipelines/", "/api/v1/knowledge-bases/none/", "/api/schema/"])
def test_whoever_accepts_only_pages_gets_no_page(accepted: str, path: str) -> None:
    answer = Client(**STRICT).get(path, headers={"Accept": accepted})
    assert "html" not in answer["Content-Type"]
    assert answer.status_code in (200, 404, 406)


def test_a_redirect_to_the_address_with_its_slash_says_it_is_no_html() -> None:
    answer = Client(**STRICT).get("/api/v1/pipelines")
    assert (answer.status_code, answer["Location"]) == (301, "/api/v1/pipelines/")
    assert "Content-Type" not in answer.headers


@pytest.mark.parametrize("path", ["/api/docs/", "/api/schema/"])
@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_description_and_its_viewer_take_no_other_method(path: str, method: str) -> None:
    problem(getattr(Client(**STRICT), method)(path), 405)


@pytest.mark.parametrize("query", ["version=%0aX: y", "version=%00", "lang=%00", "format=x", "version=%22%0d"])
def test_the_description_bears_any_query(query: str) -> None:
    answer = Client(**STRICT).get(f"/api/schema/?{query}")
    assert answer.status_code in (200, 404)
    assert "html" not in answer["Content-Type"]


@pytest.mark.parametrize("method", ["options", "head"])
def test_the_viewer_bears_being_asked_what_it_is(method: str) -> None:
    assert getattr(Client(**STRICT), method)("/api/docs/").status_code < 500
