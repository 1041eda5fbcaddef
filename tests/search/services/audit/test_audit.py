"""The audit log has every write of an admin through every door, with who, when, from where and to what, for good."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from search.models import ApiToken, AuditEntry, Endpoint, Job, KnowledgeBase
from search.services.access.roles import make_roles
from search.services.access.tokens import make_token, revoke_token
from search.services.audit.note import delete_old_entries, note
from search.services.jobs.change import cancel_job

pytestmark = pytest.mark.django_db
FROM = {"REMOTE_ADDR": "10.9.8.7", "HTTP_X_REQUEST_ID": "ask-1"}


def newest() -> AuditEntry:
    entry = AuditEntry.objects.first()
    assert entry is not None
    return entry


def test_what_an_admin_changes_on_a_page_is_noted_with_address_and_request(admin_client: Client) -> None:
    fields = {"name": "local", "base_url": "http://127.0.0.1:1/v1", "model": "m", "timeout": 5, "concurrency": 1,
              "max_tokens": 64, "structured_output": "auto", "position": 1, "api_key": "hush-hush"}  # fmt: skip
    assert admin_client.post("/admin/search/endpoint/add/", fields, **FROM).status_code == 302
    endpoint = Endpoint.objects.get()
    entry = newest()
    assert (entry.who, entry.action, entry.object_name) == ("admin", "added in the admin", "local")
    assert (entry.door, entry.address, entry.request_id) == ("page", "10.9.8.7", "ask-1")
    assert (entry.object_type, entry.object_id) == ("language model endpoint", str(endpoint.pk))
    assert admin_client.post(f"/admin/search/endpoint/{endpoint.pk}/delete/", {"post": "yes"}).status_code == 302
    assert (newest().action, newest().object_name) == ("deleted", "local")
    assert "hush" not in json.dumps(list(AuditEntry.objects.values()), default=str)


def test_many_deleted_at_once_are_noted_one_by_one(admin_client: Client) -> None:
    chosen = [Group.objects.create(name=name).pk for name in ("a", "b")]
    action = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    assert admin_client.post("/admin/auth/group/", action).status_code == 302
    assert set(AuditEntry.objects.filter(action="deleted").values_list("object_name", flat=True)) == {"a", "b"}


def test_a_role_that_is_given_or_taken_is_noted_from_both_sides() -> None:
    make_roles()
    ada = User.objects.create_user("ada")
    role = Group.objects.get(name="annotator")
    ada.groups.add(role)
    assert (newest().action, newest().object_name, newest().details) == ("roles given", "ada", {"roles": ["annotator"]})
    role.user_set.remove(ada)
    assert (newest().action, newest().object_name) == ("roles taken", "ada")
    ada.groups.set([role])
    ada.groups.clear()
    assert [(e.action, e.details["roles"]) for e in AuditEntry.objects.all()[:2]] == [
        ("roles taken", ["annotator"]), ("roles given", ["annotator"]),
    ]  # fmt: skip


def test_tokens_are_noted_without_their_text(admin_user: User) -> None:
    token, text = make_token(admin_user, "loader")
    revoke_token(token)
    revoke_token(token)
    assert [entry.action for entry in AuditEntry.objects.all()] == ["token revoked", "token made"]
    assert text not in json.dumps(list(AuditEntry.objects.values()), default=str)


def test_what_a_program_does_is_noted_for_the_account_of_its_token(client: Client, admin_user: User) -> None:
    _, text = make_token(admin_user)
    body = json.dumps({"title": "films"})
    headers = {"Authorization": f"Token {text}"}
    answer = client.post("/api/v1/uploads/", body, content_type="application/json", headers=headers)
    assert answer.status_code == 201, answer.content
    assert (newest().who, newest().action, newest().door) == ("admin", "upload begun", "api")


def test_a_cancelled_job_is_noted_once_and_only_if_it_could_be_cancelled(admin_user: User) -> None:
    job = Job.objects.create(kind="index", specification_hash="x", knowledge_base_name="films")
    cancel_job(job, user=admin_user)
    cancel_job(job, user=admin_user)
    entry = AuditEntry.objects.get(action="job cancelled")
    assert (entry.who, entry.object_name, entry.door) == ("admin", "Indexing of films", "command")


def test_a_command_is_the_systems_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "operator")
    base = KnowledgeBase.objects.create(name="films")
    assert (note("knowledge base deleted", base).who, newest().user, newest().address) == ("operator", None, "")


def test_nobody_can_change_or_delete_an_entry(admin_client: Client) -> None:
    entry = note("x")
    entry.who = "somebody else"
    with pytest.raises(TypeError, match="never changed"):
        entry.save()
    page = f"/admin/search/auditentry/{entry.pk}"
    assert admin_client.get(f"{page}/change/").status_code == 200
    assert admin_client.post(f"{page}/change/", {"who": "b"}).status_code == 403
    assert admin_client.post(f"{page}/delete/", {"post": "yes"}).status_code == 403
    assert admin_client.get("/admin/search/auditentry/add/").status_code == 403


def test_the_file_has_what_the_filters_leave_with_harmless_cells(admin_client: Client) -> None:
    note("dropped", name="=HYPERLINK()", count=-3)
    note("made", name="films")
    answer = admin_client.get("/admin/search/auditentry/export.csv", {"action": "dropped"})
    text = b"".join(answer.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    header, *rows = csv.reader(io.StringIO(text))
    assert header[:3] == ["at", "who", "action"]
    assert [(row[2], row[5], row[6]) for row in rows] == [("dropped", "'=HYPERLINK()", "count: -3")]


def test_the_list_counts_entries(admin_client: Client) -> None:
    note("made", name="films")

    def counted() -> str:
        html = admin_client.get("/admin/search/auditentry/").content.decode()
        return " ".join(re.sub(r"<[^>]*>", " ", html).split())

    assert re.search(r"\b1 entry\b", counted())
    note("made", name="books")
    assert re.search(r"\b2 entries\b", counted())


def test_filters_that_are_none_lead_to_the_list(admin_client: Client) -> None:
    answer = admin_client.get("/admin/search/auditentry/export.csv", {"name": "1"})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/search/auditentry/?e=1")


def test_old_entries_go_after_their_time(settings) -> None:
    old, new = note("old"), note("new")
    AuditEntry.objects.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=31))
    settings.GRASP_AUDIT_DAYS = 0
    assert delete_old_entries() == 0
    settings.GRASP_AUDIT_DAYS = 30
    assert delete_old_entries() == 1
    assert AuditEntry.objects.get() == new


def test_a_token_made_on_the_page_is_noted_once(admin_client: Client, admin_user: User) -> None:
    admin_client.post("/admin/search/apitoken/add/", {"user": admin_user.pk, "name": "loader"})
    assert ApiToken.objects.count() == 1
    assert [e.action for e in AuditEntry.objects.filter(object_type="API token")] == ["token made"]
