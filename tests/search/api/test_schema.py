"""The OpenAPI description is valid, and what the API answers is what it describes, whatever it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from search.models import KnowledgeBase
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search

pytestmark = pytest.mark.django_db

EXAMPLES = 12
"""Requests that are made up for each operation."""
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Keep the end of a request from closing the connection that the test's own transaction is open on."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def test_the_description_is_valid_openapi(description: dict[str, Any]) -> None:
    validate_schema(description)
    assert set(description["paths"]) == {
        "/api/v1/knowledge-bases/", "/api/v1/knowledge-bases/{name}/", "/api/v1/knowledge-bases/{name}/nodes/",
        "/api/v1/knowledge-bases/{name}/nodes/{node_id}/", "/api/v1/knowledge-bases/{name}/plans/check/",
        "/api/v1/pipelines/", "/api/v1/searches/",
        "/api/v1/searches/{run_id}/", "/api/v1/searches/{run_id}/events/", "/api/v1/searches/{run_id}/cancel/",
        "/api/v1/uploads/", "/api/v1/uploads/{upload_id}/", "/api/v1/uploads/{upload_id}/unpack/",
        "/api/v1/uploads/{upload_id}/preview/", "/api/v1/uploads/{upload_id}/files/",
        "/api/v1/uploads/{upload_id}/files/{file_id}/",
        "/api/v1/healthz/", "/api/v1/readyz/",
    }  # fmt: skip


def test_every_call_has_a_summary_a_description_and_a_group_that_people_understand(description: dict[str, Any]) -> None:
    calls = [call for methods in description["paths"].values() for call in methods.values()]
    summaries = [call["summary"] for call in calls]
    assert len(set(summaries)) == len(calls) == 21
    assert all(3 <= len(summary) <= 60 and not summary.endswith(".") for summary in summaries)
    assert all(len(call["description"]) > len(call["summary"]) for call in calls)
    described = {group["name"]: group["description"] for group in description["tags"]}
    assert list(described) == ["Searches", "Plans and pipelines", "Knowledge bases", "Uploads", "State of the site"]
    assert {group for call in calls for group in call["tags"]} == set(described)
    assert all(len(call["tags"]) == 1 for call in calls)


def test_the_description_and_its_viewer_are_served_without_a_foreign_address(api: Client) -> None:
    assert api.get("/api/schema/").status_code == 200
    page = api.get("/api/docs/")
    assert page.status_code == 200
    assert "//cdn" not in page.content.decode()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "knowledge-bases/"), ("GET", "knowledge-bases/{name}/"), ("GET", "knowledge-bases/{name}/nodes/"),
        ("GET", "knowledge-bases/{name}/nodes/{node_id}/"), ("GET", "pipelines/"), ("POST", "searches/"),
        ("GET", "searches/{run_id}/"), ("POST", "searches/{run_id}/cancel/"), ("GET", "healthz/"), ("GET", "readyz/"),
    ],
)  # fmt: skip
def test_whatever_is_asked_the_answer_is_as_described(
    films: KnowledgeBase, one_connection: None, method: str, path: str
) -> None:
    done = run_search(request_search(knowledge_base="films", question="Who?", enqueue=False).pk)
    # What exists is asked for as often as what does not, or nearly every answer would be a 404.
    known = {"name": "films", "node_id": "film/1", "run_id": str(done.pk)}
    described = schemathesis.openapi.from_wsgi("/api/schema/?format=json", WSGIHandler())
    operation = described[f"/api/v1/{path}"][method]

    @settings(
        max_examples=EXAMPLES, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(), real=st.booleans())
    def holds(case: schemathesis.Case, real: bool) -> None:
        if real:
            case.path_parameters.update({name: known[name] for name in case.path_parameters})
        case.query.pop("wait", None)
        answer = case.call()
        assert answer.status_code < 500 or (answer.status_code == 503 and path == "readyz/")
        case.validate_response(answer, checks=CHECKS)

    holds()
