"""Evaluations over HTTP: for staff, filtered, in pages, as files; and described as they are."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from schemathesis.specs.openapi.checks import response_schema_conformance

from search.models import KnowledgeBase
from training.data.examples import Example
from training.services.evaluate import evaluate

EXAMPLES = [
    Example("q1", "first", ("film/1",), "val", {"hops": "1"}),
    Example("q2", "third", ("film/3",), "val", {"hops": "2"}),
    Example("q3", "nowhere", ("person/1",), "val", {"hops": "2"}),
]
LIST = "/api/v1/evaluations/"


@pytest.fixture
def evaluation(films: KnowledgeBase) -> str:
    report = evaluate(
        knowledge_base="films", examples=EXAMPLES, split="val", pipelines=["text", "path"], settings={}
    )  # fmt: skip
    return str(report["evaluation"])


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_user("staff", is_staff=True, is_superuser=True))
    return client


def shown(client: Client, url: str, **query: str) -> Any:
    answer = client.get(url, query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_only_staff_may_read(client: Client, evaluation: str) -> None:
    addresses = [LIST, *(f"{LIST}{evaluation}/{part}" for part in ("", "outcomes/", "download/?format=csv"))]
    assert {client.get(address).status_code for address in addresses} == {401}
    client.force_login(User.objects.create_user("searcher"))
    assert {client.get(address).status_code for address in addresses} == {403}


def test_the_list_shows_the_measures_of_each_pipeline(staff: Client, evaluation: str) -> None:
    [one] = shown(staff, LIST, knowledge_base="films", status="done")["results"]
    assert (one["id"], one["release"], one["questions"]) == (evaluation, "films-1", 3)
    assert [part["label"] for part in one["pipelines"]] == ["text", "path"]
    assert one["pipelines"][0]["metrics"]["MRR"] == 44.44
    assert shown(staff, LIST, status="running")["count"] == 0
    assert staff.get(LIST, {"status": "odd"}).status_code == 400


def test_a_report_is_shown_whole(staff: Client, evaluation: str) -> None:
    one = shown(staff, f"{LIST}{evaluation}/")
    assert list(one["report"]["pipelines"]) == ["text", "path"]
    assert one["answered"] == {"text": 3, "path": 3}
    assert staff.get(f"{LIST}{uuid4()}/").status_code == 404


def test_outcomes_come_in_pages_and_filtered(staff: Client, evaluation: str) -> None:
    url = f"{LIST}{evaluation}/outcomes/"
    page = shown(staff, url, page_size="4", page="2")
    assert (page["count"], len(page["results"])) == (6, 2)
    [one] = shown(staff, url, **{"pipeline": "text", "found": "none", "slice.hops": "2"})["results"]
    assert one["question"]["id"] == "q3"
    assert [found["id"] for found in one["found"]] == ["film/1", "film/2", "film/3"]
    refused = staff.get(url, {"found": "somewhere", "colour": "red"})
    assert refused.status_code == 400
    assert {fault["pointer"] for fault in refused.json()["errors"]} == {"/found", "/colour"}


@pytest.mark.parametrize(
    ("format", "media_type", "first"),
    [
        ("run", "text/plain", "q1 Q0 film/1 1 "),
        ("qrels", "text/plain", "q1 0 film/1 1\n"),
        ("csv", "text/csv", "question,text,answers,"),
        ("json", "application/json", "{\n"),
        ("latex", "application/x-tex", "\\begin{table}"),
    ],
)
def test_files_are_downloaded(staff: Client, evaluation: str, format: str, media_type: str, first: str) -> None:
    answer = staff.get(f"{LIST}{evaluation}/download/", {"format": format})
    assert answer.headers["Content-Type"].startswith(media_type)
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    assert b"".join(answer.streaming_content).decode().startswith(first)  # type: ignore[attr-defined]
    refused = staff.get(f"{LIST}{evaluation}/download/", {"format": "pdf"})
    assert (refused.status_code, refused.headers["Content-Type"]) == (400, "application/problem+json")


@pytest.mark.parametrize("path", ["", "{evaluation_id}/", "{evaluation_id}/outcomes/"])
def test_answers_are_as_described(staff: Client, evaluation: str, path: str) -> None:
    described = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))
    operation = described[f"/api/v1/evaluations/{path}"]["GET"]
    answer = staff.get(LIST + path.format(evaluation_id=evaluation))
    response = schemathesis.Response(
        status_code=200, headers={"content-type": ["application/json"]}, content=answer.content, request=None,  # type: ignore[arg-type]
        elapsed=0.1, verify=False,
    )  # fmt: skip
    assert response_schema_conformance(None, response, operation.Case()) is None  # type: ignore[arg-type]
