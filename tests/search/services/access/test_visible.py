"""Which rows a person may see, and how much of a search, as memberships and knowledge bases come and go."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser, Permission, User

from search.domain.errors import InvalidRequest, NotAllowed
from search.models import Job, KnowledgeBase, Release, SearchRun
from search.services.access.visible import find_search, path_to_base, rows_for, searches_for, told_to
from search.services.jobs.change import cancel_job, resume_job
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.promote_result import promote_job
from search.services.searches.request_search import request_search
from tests.search import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def member(films: KnowledgeBase, services: object) -> User:
    """A member of the films, who may launch jobs."""
    KnowledgeBase.objects.update(visibility=KnowledgeBase.Visibility.MEMBERS)
    user = User.objects.create_user("ann", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="search"))
    films.members.add(user)
    return user


def asked(user: User | None) -> SearchRun:
    return request_search(knowledge_base="films", question="Who?", user=user, enqueue=False)


def test_paths_lead_along_foreign_keys_to_the_knowledge_base() -> None:
    paths = {model.__name__: path_to_base(model) for model in apps.get_models()}
    assert paths["KnowledgeBase"] == "pk"
    assert paths["VectorSet"] == "snapshot__knowledge_base"
    assert paths["SearchStep"] == "run__knowledge_base"
    assert paths["Judgement"] == "item__queue__knowledge_base"
    assert {name for name in ("User", "Upload", "Endpoint", "AuditEntry", "BackupRun") if paths[name]} == set()


def test_own_searches_lose_their_base_and_release_with_the_membership(films: KnowledgeBase, member: User) -> None:
    run = asked(member)
    whole = find_search(run.pk, member)
    assert whole is not None
    assert (whole.knowledge_base, whole.only_stored) == (films, False)
    films.members.remove(member)
    assert find_search(run.pk, member) is None
    stored = find_search(run.pk, member, stored=True)
    assert stored is not None
    assert (stored.knowledge_base, stored.release, stored.only_stored) == (None, None, True)
    assert stored.question == "Who?"
    run.refresh_from_db()
    assert run.knowledge_base == films


def test_searches_of_others_are_gone_with_the_membership_for_staff_too(films: KnowledgeBase, member: User) -> None:
    run, own = asked(None), asked(member)
    assert set(searches_for([run.pk, own.pk], member)) == {run.pk, own.pk}
    films.members.remove(member)
    assert set(searches_for([run.pk, own.pk], member)) == {own.pk}
    superuser = User.objects.create_superuser("root")
    assert set(searches_for([run.pk, own.pk], superuser)) == set(searches_for([run.pk, own.pk], None))


def test_a_search_of_a_deleted_base_is_its_askers_alone(films: KnowledgeBase, member: User) -> None:
    own = asked(member)
    other = User.objects.create_user("bob", is_staff=True)
    SearchRun.objects.update(knowledge_base=None, release=None)
    assert find_search(own.pk, member) is not None
    assert find_search(own.pk, other, stored=True) is None
    assert not rows_for(SearchRun.objects.all(), other).exists()


@pytest.mark.parametrize("visibility", ["members", "staff", "public"])
def test_jobs_follow_their_base_also_where_only_its_name_is_left(films: KnowledgeBase, visibility: str) -> None:
    KnowledgeBase.objects.update(visibility=visibility)
    staff = User.objects.create_user("cleo", is_staff=True)
    for name, base in (("films", films), ("films", None)):
        job = Job.objects.create(
            kind="index", knowledge_base=base, knowledge_base_name=name, specification_hash="1", state="done"
        )
        assert rows_for(Job.objects.filter(pk=job.pk), staff).exists() == (visibility != "members")
    of_none = Job.objects.create(kind="backup", specification_hash="2", state="done")
    assert rows_for(Job.objects.filter(pk=of_none.pk), staff).exists()
    gone = Job.objects.create(
        kind="index", knowledge_base_name="gone", specification_hash="3", state="done", user=staff
    )
    assert rows_for(Job.objects.filter(pk=gone.pk), staff).exists()
    assert rows_for(Job.objects.filter(pk=gone.pk), User.objects.create_user("dora", is_staff=True)).exists()


def test_no_job_is_launched_changed_or_promoted_on_a_hidden_base(films: KnowledgeBase, member: User) -> None:
    job, _ = launch_job(kind="index", knowledge_base="films", user=member, here=True)
    films.members.remove(member)
    with pytest.raises(InvalidRequest) as refused:
        launch_job(kind="index", knowledge_base="films", user=member, here=True)
    [fault] = refused.value.faults
    assert (fault.pointer, fault.nearest) == ("/knowledge_base", None)
    assert "None has been imported yet" in fault.message
    for act in (cancel_job, resume_job, promote_job):
        with pytest.raises(NotAllowed, match="may not see"):
            act(job, user=member)


def test_a_job_stops_when_it_begins_and_its_launcher_was_removed(films: KnowledgeBase, member: User) -> None:
    job, _ = launch_job(kind="index", knowledge_base="films", user=member, here=True)
    films.members.remove(member)
    with pytest.raises(InvalidRequest, match="may not see films any more"):
        run_here(job)
    job.refresh_from_db()
    assert (job.state, Release.objects.count()) == ("failed", 1)


def test_an_import_writes_into_no_hidden_base(films: KnowledgeBase, member: User, tmp_path: object) -> None:
    films.members.remove(member)
    arguments = {"source": str(tmp_path), "name": "films"}
    with pytest.raises(InvalidRequest) as refused:
        launch_job(kind="import", arguments=arguments, user=member, here=True)
    [fault] = refused.value.faults
    assert fault.pointer == "/arguments/name"
    assert "is taken" in fault.message
    small.films("another", visibility="public")
    launch_job(kind="import", arguments=arguments | {"name": "another"}, user=member, here=True)


def test_states_of_services_name_no_hidden_knowledge_base(films: KnowledgeBase, member: User) -> None:
    small.films("films-of-old", visibility="public")
    reason = "films-2 and films lack files; so do films-of-old-3 and microfilms. manage.py sync_graph films does it."
    told = [{"name": "Neo4j", "state": "down", "reason": reason}, {"name": "Valkey", "state": "ready", "reason": ""}]
    [neo4j, valkey] = told_to(told, AnonymousUser())
    hidden = "a hidden knowledge base"
    assert neo4j["reason"] == (
        f"{hidden} and {hidden} lack files; so do films-of-old-3 and microfilms. manage.py sync_graph {hidden} does it."
    )
    assert valkey == told[1]
    assert told_to(told, member) == told
