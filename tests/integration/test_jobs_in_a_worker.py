"""Jobs in one real worker that lives on: they are done, cancelled, and survive the death of any other process."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django.fixtures import Settings
from structlog.contextvars import bound_contextvars

from grasp_site.embedded.home import Home
from search.models import AuditEntry, Job, RefusedRequests
from search.services import health
from search.services.jobs.change import cancel_job, resume_job
from search.services.jobs.launch import launch_job
from tests import job_site
from tests.job_workers import Workers, bodies, counted, ended, keepers, kill_service, launched, running, until

pytestmark = pytest.mark.django_db(transaction=True)

CANCEL_SECONDS = 5.0
Worker = subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def workers(web_environment: dict[str, str], services: Home) -> Iterator[Workers]:
    """The workers of this file."""
    started = Workers(web_environment, services)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def the_worker(workers: Workers) -> Worker:
    """The one worker of this file: it takes seconds to start, and no test here does it any harm."""
    return workers.start()


@pytest.fixture
def worker(transactional_db: None, the_worker: Worker, settings: Settings) -> Iterator[Worker]:
    """The worker, while the kinds of jobs of the tests are known here too."""
    settings.GRASP_JOBS = job_site.GRASP_JOBS
    settings.GRASP_JOB_LEASE_SECONDS = job_site.GRASP_JOB_LEASE_SECONDS
    settings.GRASP_JOB_ATTEMPTS = job_site.GRASP_JOB_ATTEMPTS
    health.forget()
    yield the_worker
    # Also opens a connection again after the death of Postgres.
    until(lambda: not Job.objects.filter(state="running").exists(), "a job still runs")
    until(lambda: not bodies(the_worker), "the process of an ended job is still there")


@pytest.mark.parametrize("victim", ["keeper", "body"])
def test_a_job_whose_process_is_killed_goes_on_from_its_checkpoint(
    workers: Workers, worker: Worker, victim: str
) -> None:
    job = running(launched(steps=60), step=10)
    [process] = keepers(worker) if victim == "keeper" else bodies(worker)
    process.kill()
    ended(job)
    assert (job.state, job.result, job.attempt, job.deaths) == ("done", {"total": 1830}, 2, 1), workers.log()
    assert counted(job) == 1
    [begun] = [line.text for line in job.lines.filter(attempt=2) if line.text.startswith("goes on")]
    assert int(begun.rpartition(" ")[2]) >= 10


def test_a_job_is_done_by_a_worker_and_tells_how_far_it_is(workers: Workers, worker: Worker) -> None:
    job = ended(launched(steps=20))
    assert (job.state, job.result, job.attempt, job.reason) == ("done", {"total": 210}, 1, ""), workers.log()
    assert counted(job) == 1
    assert [(point.step, point.value) for point in job.metrics.all()] == [(n, n * (n + 1) / 2) for n in range(1, 21)]
    assert [line.text for line in job.lines.all()][1:] == ["goes on behind step 0"]
    assert job.progress["share"] == 1.0
    assert job.resources["memory_peak_mb"] > 10


def test_a_job_in_a_worker_may_start_processes(workers: Workers, worker: Worker) -> None:
    job = ended(launched("parent"))
    assert (job.state, job.result, job.reason) == ("done", {"exit": 0}, ""), workers.log()


def test_what_a_job_does_carries_the_request_and_the_account_that_launched_it(
    workers: Workers, worker: Worker, django_user_model: type[User]
) -> None:
    ada = django_user_model.objects.create_superuser("ada")
    what, identifier = f"noted {uuid4().hex}", f"request-{uuid4().hex}"
    with bound_contextvars(request_id=identifier):
        job, _ = launch_job(kind="noting", arguments={"name": what}, user=ada, origin=Job.Origin.PAGE)
    ended(job)
    assert job.state == "done", workers.log()
    entry = AuditEntry.objects.get(action=what)
    assert (entry.who, entry.door, entry.request_id) == ("ada", Job.Origin.PAGE, identifier)
    told = [line for line in workers.log().splitlines() if identifier in line]
    assert [sum(event in line for line in told) for event in ("noted by a job", "job ended")] == [1, 1], told
    assert all(str(job.pk) in line for line in told)


@pytest.mark.parametrize("how", ["statement", "interpreter", "loop", "lock"])
def test_cancel_ends_a_job_in_the_middle_of_any_step(worker: Worker, how: str) -> None:
    job = running(launched("stuck", how=how))
    until(lambda: job.lines.filter(text="stuck").exists(), "the job does not come to its step")
    [body] = bodies(worker)
    began = time.monotonic()
    cancel_job(job, user=None)
    ended(job)
    assert time.monotonic() - began <= CANCEL_SECONDS
    assert (job.state, job.reason, job.attempt) == ("cancelled", "It was cancelled.", 1)
    assert not body.is_running()
    assert not RefusedRequests.objects.filter(kind=job.arguments["name"]).exists()


def test_a_cancelled_job_can_be_resumed_and_goes_on_where_it_was(worker: Worker) -> None:
    job = running(launched(steps=60, pause=0.05), step=10)
    cancel_job(job, user=None)
    ended(job)
    assert (job.state, counted(job)) == ("cancelled", 0)
    resume_job(job, user=None)
    ended(job)
    assert (job.state, job.result, counted(job)) == ("done", {"total": 1830}, 1)
    [*_, begun] = [line.text for line in job.lines.all() if line.text.startswith("goes on")]
    assert int(begun.rpartition(" ")[2]) >= 10


@pytest.mark.parametrize("service", ["postgres", "valkey"])
def test_a_job_survives_the_death_of_a_service_that_it_needs(
    workers: Workers, worker: Worker, services: Home, service: str
) -> None:
    job = running(launched(steps=200), step=20)
    kill_service(services, service)
    # The session of the test may outlive its server for a moment, and say what is no longer so.
    connection.close()
    ended(job, 120)
    assert (job.state, job.result, counted(job)) == ("done", {"total": 20100}, 1), workers.log()
    assert job.attempt <= 2
