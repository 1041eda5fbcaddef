"""Jobs in real workers: killed, stopped, cancelled, without their broker; nothing is lost, doubled or half-written."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from grasp_site.embedded.home import Home
from grasp_site.heartbeat import broker
from search.models import Job
from search.services import health
from search.services.jobs.change import cancel_job
from tests import job_site
from tests.job_workers import (
    Workers,
    bodies,
    counted,
    ended,
    keepers,
    launched,
    passed,
    running,
    stopped,
    until,
)

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


def test_a_job_whose_worker_is_killed_goes_on_from_its_checkpoint_in_another(workers: Workers) -> None:
    worker = workers.start()
    job = running(launched(steps=60), step=10)
    workers.kill(worker)
    workers.start()
    ended(job)
    assert (job.state, job.result, job.attempt, job.deaths) == ("done", {"total": 1830}, 2, 1), workers.log()
    assert counted(job) == 1
    [begun] = [line.text for line in job.lines.filter(attempt=2) if line.text.startswith("goes on")]
    assert int(begun.rpartition(" ")[2]) >= 10


def test_a_killed_worker_leaves_no_process_behind(workers: Workers) -> None:
    worker = workers.start()
    running(launched(steps=10_000), step=5)
    orphans = [*keepers(worker), *bodies(worker)]
    assert len(orphans) == 2
    workers.kill(worker)
    until(lambda: not any(orphan.is_running() for orphan in orphans), "a process outlives its worker", 5)


def test_an_owner_that_was_delayed_past_its_lease_cannot_write(workers: Workers) -> None:
    old = workers.start()
    job = running(launched(steps=60), step=10)
    [keeper], [body] = keepers(old), bodies(old)
    # Only the keeper stands still: the work goes on, ends its counting, and comes to its final write.
    with stopped(keeper), stopped(body):
        workers.start()
        until(lambda: Job.objects.get(pk=job.pk).attempt == 2, "nobody takes the job over")
        second = Job.objects.get(pk=job.pk).fence
        body.resume()
        ended(job)
        until(lambda: not body.is_running() or body.status() == "zombie", "the old owner goes on for ever")
    assert (job.state, job.result, job.attempt) == ("done", {"total": 1830}, 2)
    assert (counted(job), job.fence) == (1, second + 1)
    job.refresh_from_db()
    assert [line.attempt for line in job.lines.all() if line.text.startswith("Interrupted")] == []


def test_a_job_launched_by_two_at_the_same_moment_exists_once_and_is_claimed_once(workers: Workers) -> None:
    first, second = workers.start(), workers.start()
    job = launched(steps=200)
    running(job, step=5)
    until(lambda: len(bodies(first)) + len(bodies(second)) >= 1, "nobody works")
    assert len(bodies(first)) + len(bodies(second)) == 1
    ended(job)
    assert (job.attempt, counted(job)) == (1, 1)


def test_a_job_whose_owner_is_gone_is_cancelled_without_it(workers: Workers) -> None:
    worker = workers.start()
    job = running(launched(steps=10_000), step=3)
    workers.stop()
    assert worker.poll() is not None
    began = time.monotonic()
    cancel_job(job, user=None)
    ended(job)
    assert job.state == "cancelled"
    assert time.monotonic() - began <= CANCEL_SECONDS


def test_a_worker_that_is_asked_to_stop_hands_its_job_back_at_once(workers: Workers) -> None:
    worker = workers.start()
    job = running(launched(steps=400), step=10)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=10) == 0
    job.refresh_from_db()
    assert (job.state, job.deaths) == ("queued", 0)
    assert job.reason == "Its worker was stopped; it continues as soon as another one runs."
    workers.start()
    running(job, step=11)
    cancel_job(job, user=None)
    ended(job)


def test_a_hint_that_the_broker_lost_is_made_up_for(workers: Workers, services: Home) -> None:
    job = launched(steps=5)
    lost = _forget_hints(services)
    assert lost >= 1
    workers.start()
    ended(job)
    assert (job.state, counted(job)) == ("done", 1)


def test_a_job_that_kills_its_process_again_and_again_is_given_up_with_a_sentence(
    workers: Workers,
) -> None:
    worker = workers.start(DEATHS="2")
    job = running(launched(steps=400), step=3)
    for attempt in (1, 2):
        until(lambda at=attempt: Job.objects.get(pk=job.pk).attempt == at and bodies(worker), "it does not go on")
        bodies(worker)[0].kill()
    ended(job)
    assert job.state == "failed"
    assert job.reason == (
        "It failed because 2 processes in turn stopped during the work. The last time: its process was killed "
        "(signal 9), by somebody or because memory ran out."
    )
    assert counted(job) == 0


def test_drawn_at_random_kills_lose_and_double_nothing(workers: Workers) -> None:
    draw = random.Random(os.environ.get("KILLS_SEED", "9"))
    worker = workers.start()
    jobs = [launched(steps=50, pause=0.01) for _ in range(4)]
    for _ in range(3):
        seen = Job.objects.filter(state="running").first()
        point = draw.uniform(0.0, 1.5)
        passed(point)
        victims = {"worker": [], "keeper": keepers(worker), "body": bodies(worker)}
        what = draw.choice(sorted(victims))
        if what == "worker" or not victims[what]:
            workers.kill(worker)
            worker = workers.start()
        else:
            victims[what][0].kill()
        assert seen is None or seen.attempt >= 1
    for job in jobs:
        ended(job, 120)
        assert (job.state, job.result, counted(job)) == ("done", {"total": 1275}, 1), workers.log()


def _forget_hints(services: Home) -> int:
    """Delete the queue of hints in the broker, as a restart without its file would; return how many there were."""
    client = broker(services.redis_url)
    waiting = int(client.llen("jobs"))
    client.delete("jobs")
    return waiting
