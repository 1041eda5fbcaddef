"""Versions of pipelines by the API: made, listed, promoted, rolled back, and refused with every fault."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from search.models import KnowledgeBase, PipelineVersion
from search.services.access.roles import ADMIN, ANNOTATOR, make_roles

pytestmark = pytest.mark.django_db
VERSIONS, BACK = "/api/v1/pipelines/grasp/versions/", "/api/v1/pipelines/grasp/rollback/"


@pytest.fixture
def base(db: None) -> KnowledgeBase:
    return KnowledgeBase.objects.create(name="town")


def client_of(role: str) -> Client:
    make_roles()
    user = User.objects.create_user(role)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(User.objects.get(pk=user.pk))
    return client


@pytest.fixture
def admin(base: KnowledgeBase) -> Client:
    return client_of(ADMIN)


def sent(client: Client, address: str, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(address, body, content_type="application/json")
    return answer.status_code, answer.json()


def test_versions_are_made_listed_promoted_and_rolled_back(admin: Client, base: KnowledgeBase) -> None:
    status, first = sent(admin, VERSIONS, knowledge_base="town", options={"fuse.k": 5}, note="Five", activate=True)
    assert (status, first["version"], first["active"], first["note"]) == (201, 1, True, "Five")
    assert (first["author"], first["artifacts"]) == (ADMIN, {})
    status, second = sent(admin, VERSIONS, knowledge_base="town", options={"plan.plans": 3})
    assert (status, second["options"], second["active"]) == (201, {"fuse.k": 5, "plan.plans": 3}, False)
    _, whole = sent(admin, VERSIONS, knowledge_base="town", options={"plan.plans": 3}, whole=True)
    assert whole["options"] == {"plan.plans": 3}
    page = admin.get(VERSIONS, {"knowledge_base": "town", "page_size": 2}).json()
    assert (page["count"], [one["version"] for one in page["results"]]) == (3, [3, 2])
    status, promoted = sent(admin, f"{VERSIONS}2/activate/", knowledge_base="town")
    assert (status, promoted["version"], promoted["in_use"]["options"]["plan.plans"]) == (200, 2, 3)
    assert sent(admin, BACK, knowledge_base="town")[1]["version"] == 1
    assert sent(admin, BACK, knowledge_base="town")[1] == {"version": 0, "in_use": None}
    status, problem = sent(admin, BACK, knowledge_base="town")
    assert (status, problem["errors"][0]["pointer"]) == (400, "/pipeline")


def test_every_fault_of_a_version_is_told(admin: Client) -> None:
    _, problem = sent(admin, VERSIONS, knowledge_base="town", options=[], note=1, activate="yes")
    assert {fault["pointer"] for fault in problem["errors"]} == {"/options", "/note", "/activate"}
    _, problem = sent(admin, VERSIONS, knowledge_base="town", options={"fuse.q": 1, "fuse.k": -1})
    assert {fault["pointer"] for fault in problem["errors"]} == {"/settings/fuse.q", "/settings/fuse.k"}
    _, problem = sent(admin, VERSIONS, knowledge_base="city", options={})
    assert problem["errors"][0]["message"] == "There is no knowledge base 'city'."
    _, problem = sent(admin, VERSIONS, knowledge_base="town", options={"plan.artifact": "planner-x"}, activate=True)
    assert "There is no trained part 'planner-x'" in problem["errors"][0]["message"]
    assert sent(admin, f"{VERSIONS}7/activate/", knowledge_base="town")[0] == 400
    assert sent(admin, "/api/v1/pipelines/grap/versions/", knowledge_base="town", options={})[0] == 404
    assert not PipelineVersion.objects.exists()


def test_annotators_read_versions_and_change_none(base: KnowledgeBase) -> None:
    reader = client_of(ANNOTATOR)
    assert reader.get(VERSIONS).status_code == 200
    assert sent(reader, VERSIONS, knowledge_base="town", options={})[0] == 403
    assert sent(reader, f"{VERSIONS}1/activate/", knowledge_base="town")[0] == 403
    assert sent(reader, BACK, knowledge_base="town")[0] == 403
