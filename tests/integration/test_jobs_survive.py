"""Jobs in real workers: killed, stopped, cancelled, without their broker; nothing is lost, doubled or half-written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from grasp_site.embedded.home import Home
from search.models import Job
from search.services import health
from tests import job_site
from tests.job_workers import Workers, counted, ended, launched, until

pytestmark = pytest.mark.django_db(transaction=True)

CANCEL_SECONDS = 5.0


@pytest.fixture
def workers(web_environment: dict[str, str], services: Home, settings: Settings) -> Iterator[Workers]:
    settings.GRASP_JOBS = job_site.GRASP_JOBS
    settings.GRASP_JOB_LEASE_SECONDS = job_site.GRASP_JOB_LEASE_SECONDS
    settings.GRASP_JOB_ATTEMPTS = job_site.GRASP_JOB_ATTEMPTS
    health.forget()
    started = Workers(web_environment, services)
    yield started
    started.stop()
    until(lambda: not Job.objects.filter(state="running", lease_until__isnull=True), "rows do not settle")


def test_a_job_is_done_by_a_worker_and_tells_how_far_it_is(workers: Workers) -> None:
    workers.start()
    job = ended(launched(steps=20))
    assert (job.state, job.result, job.attempt, job.reason) == ("done", {"total": 210}, 1, ""), workers.log()
    assert counted(job) == 1
    assert [(point.step, point.value) for point in job.metrics.all()] == [(n, n * (n + 1) / 2) for n in range(1, 21)]
    assert [line.text for line in job.lines.all()][1:] == ["goes on behind step 0"]
    assert job.progress["share"] == 1.0
    assert job.resources["memory_peak_mb"] > 10
