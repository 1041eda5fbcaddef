"""Annotation over HTTP: blind, for annotators, each answer as the description says."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from schemathesis.specs.openapi.checks import response_schema_conformance

from search.models import KnowledgeBase
from tests.training.annotating import annotator, queue_of
from training.models import AnnotationQueue

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/annotation/"
SECRETS = ("secret-pipeline", "4711", "0.8128")
"""What an annotator must not read before judging: a pipeline and a peer's note, a rank, a score."""


@pytest.fixture
def queue(films: KnowledgeBase) -> AnnotationQueue:
    return queue_of(films, 2)


@pytest.fixture
def ada(client: Client, queue: AnnotationQueue) -> Client:
    client.force_login(annotator("ada"))
    return client


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(f"{ROOT}{path}", json.dumps(body), content_type="application/json")


def test_items_and_pages_are_blind_until_they_are_judged(ada: Client, queue: AnnotationQueue) -> None:
    other = Client()
    other.force_login(annotator("bo"))
    [theirs] = post(other, f"queues/{queue.pk}/next/", tab=str(uuid4()), number=1).json()["items"]
    body = {"key": str(uuid4()), "item": theirs["id"], "verdict": "graded", "grade": 1, "note": "secret-pipeline"}
    assert post(other, "judgements/", **body).status_code == 201
    answer = post(ada, f"queues/{queue.pk}/next/", tab=str(uuid4()), number=2)
    [first, _] = answer.json()["items"]
    paths = [f"queues/{queue.pk}/", "queues/", f"queues/{queue.pk}/judgements/"]
    told = [answer.content, *(ada.get(f"{ROOT}{path}").content for path in paths)]
    for secret in SECRETS:
        assert not any(secret.encode() in one for one in told), secret
    assert {"rank", "score", "pipeline", "origin", "answers"}.isdisjoint(first | first["candidate"])
    page = ada.get(f"/annotate/{queue.pk}/").content.decode()
    assert not any(secret in page for secret in SECRETS)
    assert {"conditions", "paths", "note"}.isdisjoint(first["candidate"])
    for hidden in ("reveal", "evidence"):
        assert post(ada, f"items/{first['id']}/{hidden}/").status_code == 409
    assert ada.get(f"/admin/training/annotationqueue/{queue.pk}/change/").status_code == 403
    body |= {"key": str(uuid4()), "note": ""}
    assert post(ada, "judgements/", **body).status_code == 201
    revealed = post(ada, f"items/{first['id']}/reveal/").json()
    assert revealed["pipelines"] == [{"pipeline": "secret-pipeline", "rank": 4711, "score": 0.8128}]
    assert [(one["by"], one["grade"]) for one in revealed["judgements"]] == [("bo", 1)]


def test_a_judgement_is_stored_once_and_a_conflict_brings_the_stored_one(ada: Client, queue: AnnotationQueue) -> None:
    [item] = post(ada, f"queues/{queue.pk}/next/", tab=str(uuid4()), number=1).json()["items"]
    body = {"key": str(uuid4()), "item": item["id"], "base": 0, "verdict": "graded", "grade": 3, "made": "yesterday"}
    answers = [post(ada, "judgements/", **body) for _ in range(2)]
    assert [one.status_code for one in answers] == [201, 200]
    assert answers[1].json()["progress"]["mine"] == 1
    conflict = post(ada, "judgements/", **(body | {"key": str(uuid4()), "grade": 0}))
    assert conflict.status_code == 409
    assert (conflict.json()["judgement"]["grade"], conflict.json()["judgement"]["revision"]) == (3, 1)
    [own] = ada.get(f"{ROOT}queues/{queue.pk}/judgements/").json()["results"]
    assert (own["item"], own["grade"]) == (item["id"], 3)


def test_queues_of_bases_that_somebody_may_not_see_are_not_there(ada: Client, queue: AnnotationQueue) -> None:
    [item] = post(ada, f"queues/{queue.pk}/next/", tab=str(uuid4()), number=1).json()["items"]
    queue.knowledge_base.visibility = "members"
    queue.knowledge_base.save()
    assert ada.get(f"{ROOT}queues/").json()["count"] == 0
    paths = [f"{ROOT}queues/{queue.pk}/", f"/annotate/{queue.pk}/", f"/annotate/{queue.pk}/guideline/"]
    assert {ada.get(path).status_code for path in paths} == {404}
    body = {"key": str(uuid4()), "item": item["id"], "verdict": "unsure"}
    assert post(ada, "judgements/", **body).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "code", "sentence"),
    [
        ("queues/{queue}/next/", {"tab": "x"}, 400, "tab is a UUID"),
        ("queues/{queue}/next/", {"tab": str(uuid4()), "number": 21}, 400, "from 0 to 20"),
        ("queues/{queue}/next/", {"tab": str(uuid4()), "annotator": 0}, 403, "You are signed in as ada now"),
        (f"queues/{2**63}/next/", {"tab": str(uuid4())}, 404, "no annotation queue"),
        ("judgements/", {"item": True}, 400, "item is the id of an item"),
        ("judgements/", {"item": 2**64}, 404, "There is no such item"),
        ("judgements/", {"item": "{item}", "key": "1", "verdict": "unsure"}, 400, "key is a UUID"),
        ("judgements/", {"item": "{item}", "key": str(uuid4()), "base": -1, "verdict": "unsure"}, 400, "base is the"),
        ("judgements/", {"item": "{item}", "key": str(uuid4()), "verdict": "unsure"}, 409, "not handed to you"),
    ],
)
def test_bad_requests_are_answered_by_a_sentence(
    ada: Client, queue: AnnotationQueue, path: str, body: dict[str, Any], code: int, sentence: str
) -> None:
    item = queue.items.get(position=0)
    body = {key: item.pk if value == "{item}" else value for key, value in body.items()}
    answer = post(ada, path.replace("{queue}", str(queue.pk)), **body)
    assert answer.status_code == code, answer.content
    assert sentence in answer.json()["detail"] + str(answer.json()["errors"])


def test_answers_are_as_the_description_says(ada: Client, queue: AnnotationQueue) -> None:
    described = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))
    [item] = post(ada, f"queues/{queue.pk}/next/", tab=str(uuid4()), number=1).json()["items"]
    body = {"key": str(uuid4()), "item": item["id"], "verdict": "graded", "grade": 2, "expected": [{"id": "film/2"}]}
    calls = [
        ("GET", "queues/", None), ("GET", "queues/{queue_id}/", None),
        ("POST", "queues/{queue_id}/next/", {"tab": str(uuid4()), "number": 2}), ("POST", "judgements/", body),
        ("GET", "queues/{queue_id}/judgements/", None), ("POST", "items/{item_id}/reveal/", {}),
        ("POST", "items/{item_id}/evidence/", {}),
    ]  # fmt: skip
    for method, path, given in calls:
        address = ROOT + path.format(queue_id=queue.pk, item_id=item["id"])
        answer = ada.generic(method, address, json.dumps(given) if given else "", "application/json")
        response = schemathesis.Response(
            status_code=answer.status_code, headers={"content-type": ["application/json"]}, content=answer.content,
            request=None, elapsed=0.1, verify=False,  # type: ignore[arg-type]
        )  # fmt: skip
        assert answer.status_code < 300, answer.content
        case = described[ROOT + path][method].Case()
        assert response_schema_conformance(None, response, case) is None  # type: ignore[arg-type]


def test_who_may_not_judge_is_sent_to_sign_in_or_refused(client: Client, queue: AnnotationQueue) -> None:
    assert client.get("/annotate/")["Location"].startswith("/account/sign-in/?next=")
    client.force_login(User.objects.create_user("searcher"))
    assert client.get("/annotate/").status_code == 403
    assert "Annotate</a>" not in client.get("/").content.decode()
