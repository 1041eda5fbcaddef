"""Knowledge bases and releases are deleted from the admin, after a page that says what goes and what refuses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings

from search import wiring
from search.models import AuditEntry, Job, KnowledgeBase, PipelineVersion, Release
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db


@pytest.fixture
def keeper(api: Client) -> Client:
    api.force_login(User.objects.create_superuser("keeper", password="x"))
    return api


@pytest.fixture
def films(tmp_path: Path, settings: Settings) -> KnowledgeBase:
    """The films in two releases, the second one active."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    import_snapshot(source=bundles.write(tmp_path / "first", title="First"))
    import_snapshot(source=bundles.write(tmp_path / "second", title="Second", edges=bundles.EDGES[:1]))
    return KnowledgeBase.objects.get(name="films")


def address_of(row: KnowledgeBase | Release) -> str:
    return reverse(f"admin:search_{row._meta.model_name}_delete", args=[row.pk])


def page_of(keeper: Client, row: KnowledgeBase | Release) -> str:
    return keeper.get(address_of(row)).content.decode()


def test_a_release_that_is_not_active_is_dropped_and_the_audit_log_says_by_whom(
    keeper: Client, films: KnowledgeBase
) -> None:
    first = films.releases.get(number=1)
    assert address_of(first) in keeper.get(reverse("admin:search_release_change", args=[first.pk])).content.decode()
    page = page_of(keeper, first)
    assert f"{first.snapshot.nodes:,} entities" in page
    assert "Delete it" in page
    said = keeper.post(address_of(first), follow=True).content.decode()
    assert "films-1 was dropped" in said
    first.refresh_from_db()
    assert first.status == "dropped"
    entry = AuditEntry.objects.get(action="release dropped")
    assert (entry.who, entry.object_name) == ("keeper", "films-1")
    assert "is dropped already" in page_of(keeper, first)


def test_the_active_release_has_no_button_and_is_not_dropped(keeper: Client, films: KnowledgeBase) -> None:
    active = films.active_release
    assert active is not None
    page = page_of(keeper, active)
    assert "is the active release" in page
    assert "Delete it" not in page
    assert "activate another one first" in keeper.post(address_of(active)).content.decode()
    active.refresh_from_db()
    assert active.status == "ready"


def test_data_that_another_release_uses_stays_and_the_page_says_so(keeper: Client, films: KnowledgeBase) -> None:
    active = films.active_release
    assert active is not None
    twin = Release.objects.create(
        knowledge_base=films, number=3, snapshot=active.snapshot, vector_set=active.vector_set, status="ready"
    )
    page = page_of(keeper, twin)
    assert "its graph and texts, which films-2 uses" in page
    assert "its vectors, which films-2 uses" in page


def test_a_job_that_reads_a_release_or_its_base_refuses_the_removal(keeper: Client, films: KnowledgeBase) -> None:
    first = films.releases.get(number=1)
    job = Job.objects.create(kind="index", specification_hash="1", knowledge_base=films, release=first, state="queued")
    for row in (first, films):
        assert f"is in use by the job {job.pk}" in page_of(keeper, row)
        assert f"is in use by the job {job.pk}" in keeper.post(address_of(row)).content.decode()
    first.refresh_from_db()
    assert first.status == "ready"
    Job.objects.update(state="done")
    assert "Delete it" in page_of(keeper, first)


def test_a_knowledge_base_is_deleted_with_what_it_has_and_what_others_use_stays(
    keeper: Client, films: KnowledgeBase, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=1, options={})
    page = page_of(keeper, films)
    assert "2 releases" in page
    assert "1 pipeline version<" in page
    folders = [snapshot.directory for snapshot in films.snapshots.all()]
    with django_capture_on_commit_callbacks(execute=True):
        said = keeper.post(address_of(films), follow=True).content.decode()
    assert "films was deleted. Releases: 2; trained parts: 0." in said
    assert not KnowledgeBase.objects.exists()
    assert not any(folder.exists() for folder in folders)
    assert AuditEntry.objects.get(action="knowledge base deleted").who == "keeper"


def test_who_may_only_change_sees_no_button_and_many_are_never_deleted_at_once(
    api: Client, films: KnowledgeBase
) -> None:
    viewer = User.objects.create_user("viewer", password="x", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__in=["view_knowledgebase", "change_knowledgebase"]))
    api.force_login(viewer)
    change = api.get(reverse("admin:search_knowledgebase_change", args=[films.pk])).content.decode()
    assert address_of(films) not in change
    assert api.get(address_of(films)).status_code == 403
    assert api.post(address_of(films)).status_code == 403
    keeper = User.objects.create_superuser("keeper", password="x")
    api.force_login(keeper)
    assert "delete_selected" not in api.get(reverse("admin:search_knowledgebase_changelist")).content.decode()
    assert api.get(reverse("admin:search_knowledgebase_delete", args=[10**9])).status_code == 404
