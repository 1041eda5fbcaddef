"""Jobs under kill -9 at points drawn at random, and the time that cancelling takes in the middle of a step.

First jobs of every kind, then many jobs of a kind that only counts. In the environment: `STORMS` (200) jobs of every
kind that are hit, `STORM_CANCELS` (50); `KILLS` (200) and `CANCELS` (50) of the counting kind; 0 leaves a part out.
`KILLS_SEED` draws other points.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.conf import settings

from benchmarks import storms
from benchmarks.common import percentiles, show, table
from grasp_site.embedded.home import Home
from search.models import Job
from search.services.jobs.change import cancel_job
from tests import storm_site
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
NUMBERS = {"STORMS": "200", "STORM_CANCELS": "50", "KILLS": "200", "CANCELS": "50"}
SETTINGS = (
    "GRASP_JOBS", "GRASP_JOB_LEASE_SECONDS", "GRASP_JOB_ATTEMPTS", "GRASP_ENCODER", "GRASP_ENCODERS", "GRASP_TOOLS",
)  # fmt: skip


def main() -> None:
    """Print what became of jobs whose processes were killed, and the seconds from a request to cancel to the end."""
    for name in SETTINGS:
        setattr(settings, name, getattr(storm_site, name))
    home = Home.from_environment()
    numbers = {name: int(os.environ.get(name, usual)) for name, usual in NUMBERS.items()}
    draw = random.Random(int(os.environ.get("KILLS_SEED", "1")))
    if numbers["STORMS"] or numbers["STORM_CANCELS"]:
        with storms.storms(home) as every, _workers(home, "tests.storm_site") as workers:
            if numbers["STORMS"]:
                storms.killed(workers, home, every, numbers["STORMS"], draw)
            if numbers["STORM_CANCELS"]:
                storms.cancelled(workers, every, numbers["STORM_CANCELS"], draw)
    if numbers["KILLS"] or numbers["CANCELS"]:
        with _workers(home, "tests.job_site") as workers:
            if numbers["KILLS"]:
                _killed(workers, home, numbers["KILLS"], draw)
            if numbers["CANCELS"]:
                _cancelled(workers, numbers["CANCELS"])


@contextmanager
def _workers(home: Home, site: str) -> Iterator[Workers]:
    workers = Workers(dict(os.environ), home, site)
    try:
        yield workers
    finally:
        workers.stop()


def _killed(workers: Workers, home: Home, number: int, draw: random.Random) -> None:
    """Kill something `number` times while jobs run, wait for their end, and compare it with an undisturbed run."""
    kills: Counter[str] = Counter()
    jobs = []
    worker = workers.start()
    for _ in range(number):
        while storms.patient(lambda: Job.objects.filter(state__in=("queued", "running")).count()) < AT_ONCE:
            jobs.append(storms.patient(lambda: launched(steps=STEPS)))
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
