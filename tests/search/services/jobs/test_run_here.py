"""A job that a command does in its own process: its lease, its end, and requests to cancel it from elsewhere."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from search.domain.run_context import LeaseLost, RunCancelled
from search.models import Job
from search.services.jobs.change import cancel_job, resume_job
from search.services.jobs.keeper import JobKeeper, KeeperVerdict
from search.services.jobs.launch import launch_job
from search.services.jobs.ownership import claim_next, claim_this
from search.services.jobs.reports import Reports
from search.services.jobs.resources import Resources
from search.services.jobs.run_context import RowNotes
from search.services.jobs.run_here import run_here
from search.services.jobs.tend import tend_jobs
from tests import job_site
from tests.job_workers import counted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def kinds(settings: Settings) -> Settings:
    settings.GRASP_JOBS = job_site.GRASP_JOBS
    settings.GRASP_JOB_LEASE_SECONDS = 2
    return settings


def launched(**arguments: Any) -> Job:
    return launch_job(kind="count", arguments={"name": "here", **arguments}, here=True)[0]


def test_the_job_of_a_command_keeps_its_lease_and_no_worker_takes_it() -> None:
    job = launched(steps=60, pause=0.05)
    seen: list[Any] = []

    def look(part: str, done: int, total: int | None) -> None:
        if done == 50:
            seen.append((claim_this(job.pk), claim_next("here"), Job.objects.get(pk=job.pk).progress["done"] > 5))

    # It takes longer than a lease.
    assert run_here(job, look) == {"total": 1830}
    assert seen == [(None, None, True)]
    assert (job.state, job.attempt, counted(job)) == ("done", 1, 1)


def test_the_job_of_a_command_is_cancelled_from_elsewhere() -> None:
    job = launched(steps=1000, pause=0.05)

    def cancel() -> None:
        try:
            while Job.objects.get(pk=job.pk).state != "running":
                time.sleep(0.02)
            cancel_job(Job.objects.get(pk=job.pk), user=None)
        finally:
            connection.close()

    other = threading.Thread(target=cancel)
    other.start()
    began = time.monotonic()
    with pytest.raises(RunCancelled):
        run_here(job)
    other.join()
    assert time.monotonic() - began < 5
    assert (job.state, job.reason, counted(job)) == ("cancelled", "It was cancelled.", 0)


def test_an_interruption_at_the_terminal_ends_the_job_and_it_can_be_resumed() -> None:
    job = launched(steps=20, pause=0.01)

    def press(part: str, done: int, total: int | None) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_here(job, press)
    assert (job.state, job.reason) == ("cancelled", "It was interrupted at the terminal.")
    resume_job(job, user=None, here=True)
    assert run_here(job) == {"total": 210}
    assert [line.text for line in job.lines.all() if line.text.startswith("goes on")][-1] == "goes on behind step 5"


def test_the_job_of_a_command_that_died_is_ended_with_a_sentence() -> None:
    job = launched()
    assert claim_this(job.pk) is not None
    Job.objects.update(lease_until="2026-01-01T00:00:00Z")
    assert tend_jobs()["settled"] == 1
    job.refresh_from_db()
    assert job.state == "failed"
    assert (
        job.reason
        == "The command that did it stopped without an error message; resume the job, or call the command again."
    )


def test_who_was_overtaken_writes_nothing() -> None:
    job = launched()
    old = claim_this(job.pk)
    Job.objects.update(lease_until="2026-01-01T00:00:00Z", queue="jobs")
    new = claim_next("jobs")
    assert old is not None
    assert new is not None
    assert (new.fence, new.attempt) == (old.fence + 1, 2)
    with pytest.raises(LeaseLost), old.fenced():
        pytest.fail("the old owner is let in")
    for write in (lambda: old.finish("done"), lambda: old.hand_back("", died=True)):
        with pytest.raises(LeaseLost):
            write()
    with new.fenced():
        assert Job.objects.get(pk=job.pk).fence == new.fence


def test_a_lease_that_ended_is_not_taken_over_while_its_owner_writes() -> None:
    job = launched()
    owner = claim_this(job.pk)
    assert owner is not None
    Job.objects.update(lease_until="2026-01-01T00:00:00Z", queue="jobs")
    taken: list[Any] = []

    def take() -> None:
        try:
            taken.append(claim_next("jobs"))
        finally:
            connection.close()

    with owner.fenced():
        other = threading.Thread(target=take)
        other.start()
        other.join()
    assert taken == [None]
    assert claim_next("jobs") is not None


def late(job: Job) -> None:
    """Let the owner's lease end, and others find that out."""
    Job.objects.filter(pk=job.pk).update(lease_until="2026-01-01T00:00:00Z")
    assert tend_jobs()["settled"] == 1
    job.refresh_from_db()
    assert job.state == "failed"


def test_a_command_that_was_late_on_a_busy_machine_keeps_its_job() -> None:
    job = launched()
    owner = claim_this(job.pk)
    assert owner is not None
    late(job)
    with owner.fenced():
        pass
    job.refresh_from_db()
    assert (job.state, job.reason, job.finished, job.deaths, job.fence) == ("running", "", None, 0, owner.fence)
    late(job)
    RowNotes(owner).put("seen", 1)
    late(job)
    keeper = JobKeeper(owner, Reports(owner, {}, {}), Resources(os.getpid()))
    assert keeper.beat() == KeeperVerdict.GO_ON
    late(job)
    assert keeper.finish(Job.State.DONE, result={"total": 1})
    job.refresh_from_db()
    assert (job.state, job.result, job.notes, job.deaths) == ("done", {"total": 1}, {"seen": 1}, 0)


def test_a_whole_command_ends_well_although_others_took_it_for_dead() -> None:
    job = launched(steps=10, pause=0.0)

    def look(part: str, done: int, total: int | None) -> None:
        if done == 5:
            late(Job.objects.get(pk=job.pk))

    assert run_here(job, look) == {"total": 55}
    assert (job.state, counted(job)) == ("done", 1)


def test_who_was_overtaken_is_told_by_whom() -> None:
    job = launched()
    owner = claim_this(job.pk)
    assert owner is not None
    late(job)
    resume_job(job, user=None, here=True)
    assert not owner.take_back()
    assert "Another process goes on with it as soon as one is free" in str(owner.lost())
    newer = claim_this(job.pk)
    assert newer is not None
    with pytest.raises(LeaseLost, match="Another process goes on with it on "), owner.fenced():
        pytest.fail("the old owner is let in")
    newer.finish(Job.State.DONE)
    assert str(owner.lost()) == "This process no longer owns the job. It has ended meanwhile (done): see its log."
    Job.objects.all().delete()
    assert str(owner.lost()) == "This process no longer owns the job. The job was deleted."


def test_the_job_of_a_command_does_not_end_because_postgres_is_late(settings: Settings) -> None:
    job = launched()
    owner = claim_this(job.pk)
    assert owner is not None
    keeper = JobKeeper(owner, Reports(owner, {}, {}), Resources(os.getpid()))
    settings.GRASP_JOB_LEASE_SECONDS = 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    other.close()
    assert keeper.beat() == KeeperVerdict.GO_ON
