"""What is old goes away by itself: beat sends the task, a worker deletes, a row says what was done."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from celery.beat import EmbeddedService, Scheduler
from celery.contrib.testing.worker import start_worker
from celery.signals import task_postrun
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from search import tasks
from search.models import KnowledgeBase, LanguageModelCall, RefusedRequests, RetentionRun, SearchRun
from search.services.searches import prune_runs
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.services.upkeep import retention
from search.services.upkeep.measure_storage import measure_storage
from search.services.upkeep.retention import keep_up

PATIENCE = 30.0


def searched(days_ago: float, **more: Any) -> SearchRun:
    run = run_search(request_search(knowledge_base="films", question="Who?", enqueue=False).pk)
    then = timezone.now() - timedelta(days=days_ago)
    SearchRun.objects.filter(pk=run.pk).update(created=then, **more)
    return run


@pytest.fixture
def old_and_new(films: KnowledgeBase) -> SearchRun:
    """Rows of every kind on both sides of the limit; the search that stays."""
    searched(91)
    searched(200)
    stays = searched(89)
    for days in (91, 89):
        call = LanguageModelCall.objects.create(endpoint_name="x", model="m", purpose="plan", seconds=1.0)
        LanguageModelCall.objects.filter(pk=call.pk).update(created=timezone.now() - timedelta(days=days))
        Session.objects.create(
            session_key=str(days), session_data="", expire_date=timezone.now() + timedelta(90 - days)
        )
    RefusedRequests.objects.create(day=timezone.now().date() - timedelta(days=500), origin="api", kind="k", number=3)
    return stays


@pytest.mark.django_db
def test_what_is_older_than_the_site_keeps_it_goes_and_the_note_says_how_much(old_and_new: SearchRun) -> None:
    abandoned = request_search(knowledge_base="films", question="Who?", enqueue=False)
    SearchRun.objects.filter(pk=abandoned.pk).update(created=timezone.now() - timedelta(hours=1))
    note = keep_up()
    assert note is not None
    assert (note.searches, note.calls, note.sessions, note.settled, note.error) == (2, 1, 1, 1, "")
    assert set(SearchRun.objects.values_list("pk", flat=True)) == {old_and_new.pk, abandoned.pk}
    assert SearchRun.objects.get(pk=abandoned.pk).status == SearchRun.Status.FAILED
    assert not RefusedRequests.objects.exists()


@pytest.mark.django_db
def test_it_deletes_once_an_hour_and_settles_every_time(old_and_new: SearchRun) -> None:
    assert keep_up() is not None
    searched(100)
    lost = request_search(knowledge_base="films", question="Who?", enqueue=False)
    SearchRun.objects.filter(pk=lost.pk).update(created=timezone.now() - timedelta(hours=1))
    assert keep_up() is None
    assert SearchRun.objects.get(pk=lost.pk).status == SearchRun.Status.FAILED
    assert SearchRun.objects.count() == 3
    RetentionRun.objects.update(started=timezone.now() - timedelta(minutes=61))
    again = keep_up()
    assert again is not None
    assert again.searches == 1


@pytest.mark.django_db
def test_many_runs_go_in_batches(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune_runs, "BATCH", 2)
    for _ in range(5):
        searched(100)
    assert prune_runs.delete_runs(90) == 5
    assert not SearchRun.objects.exists()


@pytest.mark.django_db
def test_a_failure_is_noted_and_raised(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(days: int) -> int:
        raise retention.Error("the disk is full")

    monkeypatch.setattr(retention, "delete_runs", away)
    with pytest.raises(retention.Error):
        keep_up()
    assert "the disk is full" in RetentionRun.objects.get().error


@pytest.mark.django_db(transaction=True)
def test_several_workers_at_once_delete_once(films: KnowledgeBase) -> None:
    searched(100)
    notes: list[RetentionRun | None] = []

    def work() -> None:
        notes.append(keep_up())
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(PATIENCE)
    assert sorted(note.searches for note in notes if note) == [1]
    assert len(notes) == 4


@pytest.mark.django_db(transaction=True)
def test_beat_in_a_thread_of_the_worker_has_it_done(
    films: KnowledgeBase, services: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(100)
    stays = searched(1)
    schedule = current_app.conf.beat_schedule
    assert schedule["retention"]["task"] == tasks.keep_up.name
    monkeypatch.setitem(schedule["retention"], "schedule", 0.2)
    done = threading.Event()

    def seen(task_id: str, task: Any, **_: Any) -> None:
        if task.name == tasks.keep_up.name:
            done.set()

    task_postrun.connect(seen)
    beat = EmbeddedService(current_app, thread=True, scheduler_cls=Scheduler)
    try:
        with start_worker(current_app, pool="threads", concurrency=1, queues=["search"], perform_ping_check=False):
            beat.start()
            assert done.wait(PATIENCE), "nothing was sent, or nobody did it"
            beat.stop()
    finally:
        task_postrun.disconnect(seen)
    assert [run.pk for run in SearchRun.objects.all()] == [stays.pk]
    assert RetentionRun.objects.get().searches == 1


@pytest.mark.django_db
def test_the_dashboard_shows_sizes_the_last_retention_and_what_was_refused(old_and_new: SearchRun) -> None:
    keeper = Client()
    keeper.force_login(User.objects.create_superuser("keeper", password="x"))
    assert "Retention has not run yet" in keeper.get(reverse("admin:index")).content.decode()
    keep_up()
    RefusedRequests.objects.create(day=timezone.now().date(), origin="api", kind="settings", number=4321)
    page = " ".join(keeper.get(reverse("admin:index")).content.decode().split())
    for text in (
        "2 searches, 1 calls and 1 sessions deleted", "Steps of searches", "Index files", "4321", "settings",
    ):  # fmt: skip
        assert text in page


@pytest.mark.django_db
def test_what_is_kept_is_measured(films: KnowledgeBase, settings: Any, tmp_path: Any) -> None:
    settings.GRASP_HOME = tmp_path
    (tmp_path / "artifacts" / "planner-1").mkdir(parents=True)
    (tmp_path / "artifacts" / "planner-1" / "model.safetensors").write_bytes(b"x" * 1234)
    searched(1)
    kept = {stored.title: stored for stored in measure_storage()}
    assert (kept["Trained parts"].number, kept["Trained parts"].bytes) == (1, 1234)
    assert (kept["Index files"].number, kept["Index files"].bytes) == (0, 0)
    assert kept["Searches"].number == 1
    assert kept["Steps of searches"].number == SearchRun.objects.get().steps.count() > 0
    assert kept["Searches"].bytes > 0


@pytest.mark.django_db
def test_searches_of_evaluations_are_no_searches_of_people(films: KnowledgeBase) -> None:
    ours = request_search(knowledge_base="films", question="asked by a person", enqueue=False)
    theirs = request_search(
        knowledge_base="films", question="asked by an evaluation", origin=SearchRun.Origin.EVALUATION, enqueue=False
    )
    run_search(ours.pk)
    run_search(theirs.pk)
    keeper = Client()
    keeper.force_login(User.objects.create_superuser("keeper", password="x"))
    page = keeper.get(reverse("admin:index"))
    assert dict(page.context["figures"])["Searches answered in 14 days"] == 1
    assert "asked by an evaluation" not in page.content.decode()
    place = reverse("admin:search_searchrun_changelist")
    shown = {
        choice: [q for q in ("asked by a person", "asked by an evaluation")
                 if q in keeper.get(place, {"asked_by": choice} if choice else {}).content.decode()]
        for choice in ("", "evaluations", "all")
    }  # fmt: skip
    assert shown == {
        "": ["asked by a person"], "evaluations": ["asked by an evaluation"],
        "all": ["asked by a person", "asked by an evaluation"],
    }  # fmt: skip
    assert keeper.get(reverse("admin:search_searchrun_change", args=[theirs.pk])).status_code == 200
