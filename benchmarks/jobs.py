"""Jobs under kill -9 at points drawn at random, and the time that cancelling takes in the middle of a step.

`KILLS` (200) and `CANCELS` (50) in the environment shorten it; `KILLS_SEED` draws other points.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError, connection

from benchmarks.common import percentiles, show, table
from grasp_site.embedded.home import Home
from search.models import Job
from search.services.jobs.change import cancel_job
from tests import job_site
from tests.job_workers import (
    Workers,
    bodies,
    counted,
    ended,
    keepers,
    kill_service,
    launched,
    passed,
    running,
    until,
)

STEPS = 40
"""Steps of a counting job, 0.02 s each."""
AT_ONCE = 5
"""Jobs that wait or run while something is killed."""
VICTIMS = ("work", "keeper", "worker", "postgres", "valkey")
WEIGHTS = (30, 30, 30, 5, 5)
HOW = ("statement", "interpreter", "loop", "lock")
LONGEST_END = 180.0

T = TypeVar("T")


def main() -> None:
    """Print what became of jobs whose processes were killed, and the seconds from a request to cancel to the end."""
    settings.GRASP_JOBS = job_site.GRASP_JOBS
    settings.GRASP_JOB_LEASE_SECONDS = job_site.GRASP_JOB_LEASE_SECONDS
    settings.GRASP_JOB_ATTEMPTS = job_site.GRASP_JOB_ATTEMPTS
    home = Home.from_environment()
    workers = Workers(dict(os.environ), home)
    try:
        _killed(workers, home, int(os.environ.get("KILLS", "200")))
        _cancelled(workers, int(os.environ.get("CANCELS", "50")))
    finally:
        workers.stop()


def _killed(workers: Workers, home: Home, number: int) -> None:
    """Kill something `number` times while jobs run, wait for their end, and compare it with an undisturbed run."""
    draw = random.Random(int(os.environ.get("KILLS_SEED", "1")))
    kills: Counter[str] = Counter()
    jobs = []
    worker = workers.start()
    for _ in range(number):
        while _patient(lambda: Job.objects.filter(state__in=("queued", "running")).count()) < AT_ONCE:
            jobs.append(_patient(lambda: launched(steps=STEPS)))
        until(partial(bodies, worker), "no job is worked on", LONGEST_END)
        passed(draw.uniform(0.0, 1.2))
        [victim] = draw.choices(VICTIMS, WEIGHTS)
        kills[victim] += 1
        if victim in ("postgres", "valkey"):
            kill_service(home, victim)
        elif victim == "worker" or not (found := (bodies if victim == "work" else keepers)(worker)):
            workers.kill(worker)
            worker = workers.start()
        else:
            found[0].kill()
    total = STEPS * (STEPS + 1) // 2
    outcomes: Counter[str] = Counter()
    for job in jobs:
        ended(job, LONGEST_END)
        written = counted(job)
        outcomes["lost"] += job.state != "done"
        outcomes["doubled"] += written > 1
        outcomes["half-written"] += job.state == "done" and (written != 1 or job.result != {"total": total})
        outcomes["attempts"] += job.attempt
    rows = [(f"kills of {name}", kills[name]) for name in VICTIMS]
    rows += [("jobs", len(jobs)), ("attempts", outcomes["attempts"])]
    rows += [(name, outcomes[name]) for name in ("lost", "doubled", "half-written")]
    table(f"{number} kills at random", ("", ""), rows)


def _cancelled(workers: Workers, number: int) -> None:
    """Cancel `number` jobs in the middle of a step that never looks; print the seconds until they have ended."""
    workers.stop()
    workers.start()
    taken: dict[str, list[float]] = {how: [] for how in HOW}
    for place in range(number):
        how = HOW[place % len(HOW)]
        job = running(launched("stuck", how=how))
        until(job.lines.filter(text="stuck").exists, "the job does not come to its step")
        began = time.perf_counter()
        cancel_job(job, user=None)
        ended(job)
        taken[how].append(time.perf_counter() - began)
        if job.state != "cancelled":
            show(f"stuck in {how}: {job.state} {job.reason}")
    every = [seconds for found in taken.values() for seconds in found]
    rows = [(how, len(found), percentiles(found)[0] / 1000, max(found)) for how, found in taken.items() if found]
    rows.append(("all", len(every), percentiles(every)[0] / 1000, max(every)))
    table("Seconds from a request to cancel to the end", ("stuck in", "jobs", "p50", "worst"), rows)


def _patient(look: Callable[[], T]) -> T:
    """Return what `look` returns, once Postgres answers again."""
    deadline = time.monotonic() + LONGEST_END
    while True:
        try:
            return look()
        except DatabaseError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
