"""The OpenAPI description is valid, and what the API answers is what it describes, whatever it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
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
from search.services.access.tokens import make_token
from search.services.jobs.launch import launch_job
from search.services.jobs.schedules import save_schedule
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
        "/api/v1/pipelines/", "/api/v1/pipelines/{name}/versions/",
        "/api/v1/pipelines/{name}/versions/{version}/activate/", "/api/v1/pipelines/{name}/rollback/",
        "/api/v1/searches/", "/api/v1/searches/compare/",
        "/api/v1/searches/{run_id}/", "/api/v1/searches/{run_id}/events/", "/api/v1/searches/{run_id}/cancel/",
        "/api/v1/uploads/", "/api/v1/uploads/{upload_id}/", "/api/v1/uploads/{upload_id}/unpack/",
        "/api/v1/uploads/{upload_id}/preview/", "/api/v1/uploads/{upload_id}/files/",
        "/api/v1/uploads/{upload_id}/files/{file_id}/",
        "/api/v1/jobs/", "/api/v1/jobs/{job_id}/", "/api/v1/jobs/{job_id}/cancel/", "/api/v1/jobs/{job_id}/resume/",
        "/api/v1/jobs/{job_id}/clone/", "/api/v1/jobs/{job_id}/events/", "/api/v1/job-kinds/",
        "/api/v1/job-schedules/", "/api/v1/job-schedules/{schedule_id}/",
        "/api/v1/evaluations/", "/api/v1/evaluations/{evaluation_id}/",
        "/api/v1/evaluations/{evaluation_id}/outcomes/", "/api/v1/evaluations/{evaluation_id}/download/",
        "/api/v1/healthz/", "/api/v1/readyz/",
        "/api/v1/searches/{run_id}/feedback/", "/api/v1/searches/{run_id}/answers/",
        "/api/v1/searches/{run_id}/facets/",
        "/api/v1/question-sets/", "/api/v1/question-sets/from-feedback/", "/api/v1/question-sets/{set_id}/",
        "/api/v1/question-sets/{set_id}/changes/",
        "/api/v1/annotation/queues/", "/api/v1/annotation/queues/{queue_id}/",
        "/api/v1/annotation/queues/{queue_id}/next/", "/api/v1/annotation/queues/{queue_id}/judgements/",
        "/api/v1/annotation/items/{item_id}/evidence/", "/api/v1/annotation/items/{item_id}/reveal/",
        "/api/v1/annotation/judgements/",
    }  # fmt: skip


def test_every_call_has_a_summary_a_description_and_a_group_that_people_understand(description: dict[str, Any]) -> None:
    calls = [call for methods in description["paths"].values() for call in methods.values()]
    summaries = [call["summary"] for call in calls]
    assert len(set(summaries)) == len(calls)
    assert all(3 <= len(summary) <= 60 and not summary.endswith(".") for summary in summaries)
    assert all(len(call["description"]) > len(call["summary"]) for call in calls)
    described = {group["name"]: group["description"] for group in description["tags"]}
    assert list(described) == [
        "Searches", "Plans and pipelines", "Knowledge bases", "Uploads", "Jobs", "Question sets", "Evaluations",
        "Annotation", "State of the site",
    ]  # fmt: skip
    assert {group for call in calls for group in call["tags"]} == set(described)
    assert all(len(call["tags"]) == 1 for call in calls)


def test_the_description_and_its_viewer_are_served_without_a_foreign_address(api: Client) -> None:
    assert api.get("/api/schema/").status_code == 200
    page = api.get("/api/docs/")
    assert page.status_code == 200
    assert "//cdn" not in page.content.decode()


@cache
def described() -> Any:
    """Return the description as the site gives it; it is the same for all tests, and takes a second to make."""
    return schemathesis.openapi.from_wsgi("/api/schema/?format=json", WSGIHandler())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "jobs/"), ("POST", "jobs/"), ("GET", "jobs/{job_id}/"), ("POST", "jobs/{job_id}/cancel/"),
        ("POST", "jobs/{job_id}/resume/"), ("POST", "jobs/{job_id}/clone/"), ("GET", "job-kinds/"),
        ("GET", "job-schedules/"), ("POST", "job-schedules/"), ("PUT", "job-schedules/{schedule_id}/"),
        ("DELETE", "job-schedules/{schedule_id}/"),
        ("GET", "knowledge-bases/"), ("GET", "knowledge-bases/{name}/"), ("GET", "knowledge-bases/{name}/nodes/"),
        ("GET", "knowledge-bases/{name}/nodes/{node_id}/"), ("GET", "pipelines/"), ("POST", "searches/"),
        ("GET", "searches/{run_id}/"), ("GET", "searches/{run_id}/answers/"), ("GET", "searches/{run_id}/facets/"),
        ("POST", "searches/{run_id}/cancel/"), ("GET", "searches/compare/"),
        ("GET", "searches/{run_id}/feedback/"), ("POST", "searches/{run_id}/feedback/"),
        ("DELETE", "searches/{run_id}/feedback/"), ("GET", "healthz/"), ("GET", "readyz/"),
    ],
)  # fmt: skip
def test_whatever_is_asked_the_answer_is_as_described(
    films: KnowledgeBase, one_connection: None, method: str, path: str
) -> None:
    done, other = (
        run_search(request_search(knowledge_base="films", question="Who?", pipeline=name, enqueue=False).pk)
        for name in ("path", "text")
    )
    # What exists is asked for as often as what does not, or nearly every answer would be a 404.
    job, _ = launch_job(kind="index", knowledge_base="films")
    nightly = save_schedule(name="nightly", cron="30 2 * * *", kind="index", knowledge_base="films")
    known = {"name": "films", "node_id": "film/1", "run_id": str(done.pk), "job_id": str(job.pk),
             "schedule_id": nightly.pk}  # fmt: skip
    staff = User.objects.create_user("staff", is_staff=True, is_superuser=True)
    # Both what staff is answered and what others are.
    tokens = {True: {"Authorization": f"Token {make_token(user=staff)[1]}"}, False: {}}
    operation = described()[f"/api/v1/{path}"][method]

    @settings(
        max_examples=EXAMPLES, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(), real=st.booleans(), signed_in=st.booleans())
    def holds(case: schemathesis.Case, real: bool, signed_in: bool) -> None:
        if real:
            case.path_parameters.update({name: known[name] for name in case.path_parameters})
        if real and "id" in case.query:
            case.query["id"] = [str(done.pk), str(other.pk)]
        case.query.pop("wait", None)
        answer = case.call(headers=tokens[signed_in and "job" in path])
        assert answer.status_code < 500 or (answer.status_code == 503 and path == "readyz/")
        case.validate_response(answer, checks=CHECKS)

    holds()
