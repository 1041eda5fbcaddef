"""What an operator has to do: each alert comes with its cause, and goes with it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from grasp_site import alerts as own
from search.models import BackupRun, Job, KnowledgeBase, LanguageModelCall, SearchRun
from search.services.upkeep.alerts import Alert, machine, site_alerts, work
from search.services.upkeep.alerts.gather import forget_alerts
from search.services.upkeep.measure_storage import Disk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh() -> None:
    forget_alerts()


def titles(found: object) -> list[str]:
    return [alert.title for alert in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("free", "level"), [(20, None), (9, "soon"), (2, "now")])
def test_a_disk_that_is_nearly_full(monkeypatch: pytest.MonkeyPatch, free: int, level: str | None) -> None:
    monkeypatch.setattr(machine, "measure_disk", lambda: Disk(free, 100))
    assert [alert.level for alert in machine.disk_space()] == ([level] if level else [])


def test_backups_none_old_failed_and_good(settings) -> None:
    settings.GRASP_BACKUP_DAYS = 7
    assert titles(machine.backups()) == ["There is no backup of this site."]
    now = timezone.now()
    good = BackupRun.objects.create(place="/backups/a", finished=now - timedelta(days=9))
    assert titles(machine.backups()) == ["The last backup is 9 days old; it went to /backups/a."]
    BackupRun.objects.filter(pk=good.pk).update(finished=now)
    assert titles(machine.backups()) == []
    BackupRun.objects.create(place="/backups/b", finished=now, error="The disk is full.")
    assert titles(machine.backups()) == ["The last backup failed: The disk is full."]
    settings.GRASP_BACKUP_DAYS = 0
    assert titles(machine.backups()) == []


def test_index_files_that_are_missing_or_could_not_be_read(films: KnowledgeBase, settings, tmp_path: Path) -> None:
    settings.GRASP_HOME = tmp_path
    assert titles(machine.index_files()) == []
    release = films.active_release
    assert release is not None
    for part in machine.INDEX_PARTS:
        folder = release.snapshot.directory / part
        folder.mkdir(parents=True)
        (folder / "data.npy").write_bytes(b"1")
    assert titles(machine.index_files()) == []
    (release.snapshot.directory / "bm25" / "data.npy").write_bytes(b"")
    assert titles(machine.index_files()) == ["The index files of films-1 lack bm25."]
    (release.snapshot.directory / "bm25" / "data.npy").write_bytes(b"1")
    SearchRun.objects.create(question="?", release=release, status="failed", error={"stage": "index"})
    [alert] = machine.index_files()
    assert (alert.level, alert.command) == ("now", "manage.py index_kb films")


def test_a_migration_that_the_database_lacks() -> None:
    assert titles(machine.migrations()) == []
    [(app, newest)] = MigrationExecutor(connection).loader.graph.leaf_nodes("search")
    MigrationRecorder.Migration.objects.filter(app=app, name=newest).delete()
    [alert] = machine.migrations()
    assert f"search.{newest}" in alert.title


def test_work_that_no_worker_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job.objects.create(kind="index", specification_hash="x", queue="gpu")
    monkeypatch.setattr(work, "queue_status", lambda: [{"name": "gpu", "workers": []}])
    assert titles(work.queues()) == []
    Job.objects.filter(pk=job.pk).update(created=timezone.now() - timedelta(minutes=1))
    assert titles(work.queues()) == ["1 jobs wait for the queue gpu, which no worker serves."]
    monkeypatch.setattr(work, "queue_status", lambda: [{"name": "gpu", "workers": [{"worker": "gpu@a"}]}])
    assert titles(work.queues()) == []


def test_a_job_that_failed_until_it_succeeds() -> None:
    now = timezone.now()
    failed = {"kind": "index", "knowledge_base_name": "films", "state": "failed", "reason": "The disk is full."}
    Job.objects.create(**failed, specification_hash="a", finished=now - timedelta(hours=2))
    assert titles(work.failing_jobs()) == ["Indexing of films failed: The disk is full."]
    Job.objects.create(**failed | {"state": "done"}, specification_hash="b", finished=now - timedelta(hours=1))
    assert titles(work.failing_jobs()) == []


def test_a_language_model_whose_last_three_calls_failed(settings) -> None:
    settings.LLM_BASE_URL = "http://127.0.0.1:1/v1"
    call = {"endpoint_name": "local", "model": "m", "purpose": "plan", "seconds": 1.0}
    for _ in range(3):
        assert titles(work.model_server()) == []
        LanguageModelCall.objects.create(**call, error="It does not answer.")
    assert titles(work.model_server()) == ["The language model of local does not answer: It does not answer."]
    LanguageModelCall.objects.create(**call)
    assert titles(work.model_server()) == []


def test_clocks_that_differ(services, monkeypatch: pytest.MonkeyPatch) -> None:
    assert titles(own.clocks()) == []
    monkeypatch.setattr(own, "worker_states", lambda queue: [{"worker": "a", "ahead": -70.0}] if queue == "gpu" else [])
    [title] = titles(own.clocks())
    assert title.startswith("The clock of the worker a is 70 seconds behind")


def test_example_secrets(settings) -> None:
    assert titles(own.secrets()) == []
    settings.SECRET_KEY = "change-me-please"
    assert "SECRET_KEY is that of an example" in titles(own.secrets())[0]


def nothing() -> list[Alert]:
    return []


def broken() -> list[Alert]:
    raise OSError("the disk is away")


def test_the_first_page_says_that_there_is_nothing_to_do_or_what(admin_client: Client, settings) -> None:
    settings.GRASP_ALERTS = [f"{__name__}.nothing"]
    assert "Nothing to do." in admin_client.get("/admin/").content.decode()
    settings.GRASP_ALERTS = ["search.services.upkeep.alerts.machine.backups"]
    page = admin_client.get("/admin/").content.decode()
    assert "There is no backup of this site." in page
    assert "manage.py backup" in page


def test_a_check_that_cannot_look_is_an_alert_too(settings) -> None:
    settings.GRASP_ALERTS = [f"{__name__}.broken"]
    assert titles(site_alerts()) == ["Nobody knows about broken: the disk is away"]
