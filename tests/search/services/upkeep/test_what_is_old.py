"""What is old and needed by nobody is deleted from the database and from GRASP_HOME; everything else stays."""

from __future__ import annotations

import os
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from search.models import Artifact, Job, JobLog, JobMetric, KnowledgeBase, RetentionRun, Upload
from search.services.imports.scratch import delete_old_scratch
from search.services.jobs.checkpoints import FileCheckpoints
from search.services.jobs.delete_old_jobs import delete_checkpoints, delete_old_jobs
from search.services.pipelines.delete_artifact_folders import delete_artifact_folders
from search.services.upkeep.measure_storage import measure_storage
from search.services.upkeep.retention import keep_up
from search.services.uploads.discard_upload import delete_old_uploads
from training.services import question_drafts
from training.services.question_drafts import QuestionDraft, delete_old_drafts, keep_draft, read_draft

DAY = 86_400
PATIENCE = 30.0


@pytest.fixture
def home(settings: Any, tmp_path: Path) -> Path:
    settings.GRASP_HOME = tmp_path
    return tmp_path


def aged(path: Path, days: float) -> Path:
    """Return the path, last changed so many days ago."""
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def made(folder: Path, days: float) -> Path:
    """Return a new folder with a file, last changed so many days ago."""
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(b"x" * 10)
    return aged(folder, days)


def job(state: str, days: float, home: Path) -> Job:
    """Return a job of this state that was made and ended so many days ago, with a line, a metric and a checkpoint."""
    then = timezone.now() - timedelta(days=days)
    row = Job.objects.create(
        kind="index", state=state, specification_hash=uuid4().hex,
        finished=None if state in Job.LIVE else then,
    )  # fmt: skip
    Job.objects.filter(pk=row.pk).update(created=then)
    JobLog.objects.create(job=row, text="began")
    JobMetric.objects.create(job=row, name="loss", step=1, value=0.5)
    FileCheckpoints(home / "jobs" / str(row.pk), fence=1).save("state", b"half")
    aged(home / "jobs" / str(row.pk), days)
    return row


def folders(path: Path) -> set[str]:
    return {entry.name for entry in path.iterdir()}


@pytest.mark.django_db
def test_ended_jobs_go_after_their_days_with_all_that_is_theirs_and_live_ones_never(home: Path) -> None:
    states = Job.State
    gone = [job(state, 91, home) for state in (states.DONE, states.FAILED, states.CANCELLED)]
    stay = [job(state, 89, home) for state in (states.DONE, states.FAILED, states.CANCELLED)]
    stay += [job(state, 1_000, home) for state in (states.QUEUED, states.RUNNING)]
    copy = stay[0]
    Job.objects.filter(pk=copy.pk).update(cloned_from=gone[0])
    assert delete_old_jobs() == 3
    assert set(Job.objects.values_list("pk", flat=True)) == {row.pk for row in stay}
    assert JobLog.objects.count() == JobMetric.objects.count() == 5
    assert folders(home / "jobs") == {str(row.pk) for row in stay}
    copy.refresh_from_db()
    assert copy.cloned_from is None


@pytest.mark.django_db
def test_the_setting_says_how_long_jobs_are_kept_and_batches_add_up(
    home: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.services.jobs.delete_old_jobs.BATCH", 2)
    settings.GRASP_JOB_DAYS = 5
    for _ in range(5):
        job(Job.State.FAILED, 6, home)
    job(Job.State.FAILED, 4, home)
    assert delete_old_jobs() == 5
    assert Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_job_that_somebody_resumes_at_this_moment_stays(home: Path) -> None:
    old = job(Job.State.FAILED, 100, home)
    deleted: list[int] = []

    def sweep() -> None:
        deleted.append(delete_old_jobs())
        connection.close()

    with transaction.atomic():
        Job.objects.filter(pk=old.pk).update(state=Job.State.QUEUED, finished=None)
        sweeper = threading.Thread(target=sweep)
        sweeper.start()
        sweeper.join(PATIENCE)
    assert deleted == [0]
    assert Job.objects.filter(pk=old.pk, state=Job.State.QUEUED).exists()
    assert FileCheckpoints(home / "jobs" / str(old.pk), fence=2).load("state") == b"half"


@pytest.mark.django_db
def test_checkpoints_of_done_jobs_and_old_ones_without_a_job_go(home: Path) -> None:
    done, failed = job(Job.State.DONE, 0, home), job(Job.State.FAILED, 50, home)
    orphan, young = made(home / "jobs" / str(uuid4()), 4), made(home / "jobs" / str(uuid4()), 2)
    stray = made(home / "jobs" / "no-id", 4)
    assert delete_checkpoints() == 3
    assert folders(home / "jobs") == {str(failed.pk), young.name}
    assert not orphan.exists()
    assert not stray.exists()
    assert Job.objects.filter(pk=done.pk).exists()


@pytest.mark.django_db
def test_folders_of_artifacts_without_a_row_go_once_they_are_old(films: KnowledgeBase, home: Path) -> None:
    Artifact.objects.create(id="planner-1", kind="planner", knowledge_base=films)
    for name, days in {"planner-1": 400, "planner-2": 4, ".new-planner-3": 4, "planner-4": 2}.items():
        made(home / "artifacts" / name, days)
    assert delete_artifact_folders() == 2
    assert folders(home / "artifacts") == {"planner-1", "planner-4"}


@pytest.mark.django_db
def test_uploads_and_scratch_folders_go_after_their_days(home: Path) -> None:
    assert delete_old_uploads() == delete_old_scratch() == 0
    rows = {days: Upload.objects.create(title=str(days)) for days in (6, 8)}
    for days, row in rows.items():
        Upload.objects.filter(pk=row.pk).update(changed=timezone.now() - timedelta(days=days))
        made(row.directory, days)
    left, fresh = made(home / "uploads" / str(uuid4()), 8), made(home / "uploads" / str(uuid4()), 6)
    for name, days in {"killed": 4, "running": 2}.items():
        made(home / "imports" / name, days)
    assert (delete_old_uploads(), delete_old_scratch()) == (1, 1)
    assert folders(home / "uploads") == {str(rows[6].pk), fresh.name}
    assert not left.exists()
    assert folders(home / "imports") == {"running"}


def test_drafts_go_after_a_day_and_the_oldest_when_there_are_too_many(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = QuestionDraft("films", "mine", "typed", ())
    old, young = keep_draft(draft, 1), keep_draft(draft, 1)
    aged(home / "question-drafts" / f"{old}.gz", 1.1)
    aged(home / "question-drafts" / f"{young}.gz", 0.9)
    assert delete_old_drafts() == 1
    assert read_draft(old, 1) is None
    assert read_draft(young, 1) == draft
    monkeypatch.setattr(question_drafts, "MOST_DRAFTS", 2)
    second = keep_draft(draft, 1)
    assert read_draft(young, 1) == draft
    third = keep_draft(draft, 1)
    assert [token for token in (young, second, third) if read_draft(token, 1)] == [second, third]


@pytest.mark.django_db
def test_the_note_of_the_retention_counts_what_it_deleted(home: Path) -> None:
    job(Job.State.DONE, 91, home)
    job(Job.State.DONE, 1, home)
    made(home / "imports" / "killed", 4)
    made(home / "artifacts" / "planner-9", 4)
    keep_up()
    assert RetentionRun.objects.get().removed == {
        "audit entries": 0, "jobs": 1, "checkpoints": 1, "uploads": 0, "scratch folders": 1, "removed items": 0,
        "question drafts": 0, "folders of artifacts": 1, "objects of the index store": 0,
    }  # fmt: skip


@pytest.mark.django_db
def test_jobs_are_among_what_is_measured(home: Path) -> None:
    job(Job.State.DONE, 1, home)
    kept = {stored.title: stored for stored in measure_storage()}
    assert [kept[title].number for title in ("Jobs", "Lines of jobs", "Metrics of jobs")] == [1, 1, 1]
    assert kept["Jobs"].bytes > 0
