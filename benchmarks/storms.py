"""Jobs of every kind under kill -9 at points drawn at random, compared with undisturbed ones; and their cancelling."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psutil
from django.conf import settings
from django.db import DatabaseError, connection

from benchmarks.common import percentiles, show, table
from benchmarks.job_kinds import STORMS, Storm, SyncStorm
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from search.models import Job
from search.services.jobs.change import cancel_job
from tests.contents import strays
from tests.job_workers import Workers, bodies, ended, keepers, kill_service, passed, until
from tests.neo4j_server import Neo4jServer

VICTIMS = ("body", "keeper", "worker", "postgres", "valkey")
WEIGHTS = (60, 17, 11, 6, 6)
WORKERS = 2
LONGEST = 180.0
KILLS_A_BATCH = (3, 9)
PAUSE = (0.0, 1.0)
"""Seconds between two kills, drawn evenly."""

T = TypeVar("T")


@dataclass
class Tally:
    """What was killed and what became of the jobs."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    points: set[tuple[str, str, int]] = field(default_factory=set)
    jobs: Counter[str] = field(default_factory=Counter)
    disturbed: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)


class Crew:
    """The workers that the storm keeps running."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.processes = [workers.start() for _ in range(WORKERS)]

    def replace(self, at: int) -> None:
        """Kill a worker and start another one in its place."""
        self._workers.kill(self.processes[at])
        self.processes[at] = self._workers.start()


@contextmanager
def storms(home: Home) -> Iterator[list[Storm]]:
    """Yield the kinds, each with its knowledge base; with a Neo4j if this machine can run one."""
    folder = home.root / "storms"
    folder.mkdir(parents=True, exist_ok=True)
    server = Neo4jServer(home)
    try:
        server.start()
        settings.NEO4J_URL = os.environ["STORM_NEO4J"] = server.url
        kinds = [*STORMS, SyncStorm]
    except EmbeddedError as error:
        show(f"sync_graph is left out: {error}")
        kinds = [*STORMS]
    try:
        made = [kind(folder) for kind in kinds]
        for storm in made:
            storm.prepare()
        yield made
    finally:
        server.stop()


def undisturbed(every: Sequence[Storm]) -> dict[str, Any]:
    """Return the state that a job of each kind leaves when nothing happens; two of them must be the same."""
    found = {}
    for storm in every:
        states = []
        for _ in range(2):
            began = time.perf_counter()
            storm.ready()
            job = ended(storm.launch(), LONGEST)
            if job.state != "done":
                raise RuntimeError(f"{storm.kind}: {job.state}: {job.reason}")
            states.append(storm.state(job))
            storm.clean()
            show(f"{storm.kind}: {time.perf_counter() - began:.1f} s undisturbed")
        for path in differences(*states):
            show(f"{storm.kind}: two undisturbed jobs differ at {path}")
        found[storm.kind] = states[0]
    return found


def killed(workers: Workers, home: Home, every: Sequence[Storm], number: int, draw: random.Random) -> Tally:
    """Run jobs of every kind until `number` of them were hit while they ran; compare each with an undisturbed one."""
    crew, tally = Crew(workers), Tally()
    workers.ready()
    expected = undisturbed(every)
    while tally.disturbed.total() < number:
        batch = list(every)
        draw.shuffle(batch)
        for storm in batch:
            storm.ready()
        jobs = [(storm, patient(storm.launch)) for storm in batch]
        hit = _stormed(crew, home, [job for _, job in jobs], tally, draw)
        for storm, job in jobs:
            ended(job, LONGEST)
            tally.jobs[storm.kind] += 1
            tally.disturbed[storm.kind] += job.pk in hit
            tally.attempts[storm.kind] += job.attempt
            for fault in patient(lambda storm=storm, job=job: _faults(storm, job, expected)):  # type: ignore[misc]
                tally.faults[storm.kind, fault.partition(":")[0]] += 1
                show(f"{storm.kind} {job.pk}, attempt {job.attempt}: {fault}")
            patient(storm.clean)
        for stray in patient(strays):
            tally.faults["all", "stray"] += 1
            show(f"stray: {stray}")
    report(tally, number)
    return tally


def _stormed(crew: Crew, home: Home, jobs: Sequence[Job], tally: Tally, draw: random.Random) -> set[Any]:
    """Kill a drawn number of times while the jobs run; return the jobs that were hit while they ran."""
    hit: set[Any] = set()
    ids = [job.pk for job in jobs]
    for _ in range(draw.randint(*KILLS_A_BATCH)):
        passed(draw.uniform(*PAUSE))
        live = patient(lambda: list(Job.objects.filter(pk__in=ids, state__in=("queued", "running"))))
        if not live:
            break
        [victim] = draw.choices(VICTIMS, WEIGHTS)
        running = [job for job in live if job.state == "running"]
        at = draw.randrange(WORKERS)
        pools = {process.pid for process in keepers(crew.processes[at])}
        mine = [job for job in running if victim in ("postgres", "valkey") or job.worker_process in pools]
        if not _kill(crew, home, victim, at):
            continue
        for job in mine:
            tally.points.add((job.kind, job.progress.get("part") or "", int(10 * (job.progress.get("share") or 0))))
            tally.kills[job.kind, victim] += 1
            hit.add(job.pk)
        if not mine:
            tally.kills["(idle)", victim] += 1
    return hit


def _kill(crew: Crew, home: Home, victim: str, at: int) -> bool:
    """Kill one thing; return whether it was there."""
    if victim in ("postgres", "valkey"):
        kill_service(home, victim)
        return True
    if victim == "worker":
        crew.replace(at)
        return True
    process: subprocess.Popen[bytes] = crew.processes[at]
    found = (bodies if victim == "body" else keepers)(process)
    for one in found[:1]:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            return False
    return bool(found)


def _faults(storm: Storm, job: Job, expected: dict[str, Any]) -> list[str]:
    """Return what is wrong with a job that has ended, by class: lost, doubled, or different."""
    if job.state != "done":
        return [f"lost: {job.state}: {job.reason}"]
    found = [f"different: {path}" for path in differences(expected[storm.kind], storm.state(job))]
    if Job.objects.filter(specification_hash=job.specification_hash, created__gte=job.created).count() != 1:
        found.append("doubled: its row is there twice")
    if job.progress.get("share") != 1.0 or job.lease_until is not None:
        found.append(f"half-written: {job.progress}")
    return found


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Return the places at which two states differ, the first of each list."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        return [found for key in keys for found in differences(one.get(key), other.get(key), f"{path}/{key}")]
    if one == other:
        return []
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return [f"{path}: {len(one)} and {len(other)}"]
        return next(
            found
            for at, pair in enumerate(zip(one, other, strict=True))
            if (found := differences(*pair, f"{path}/{at}"))
        )
    return [f"{path}: {str(one)[:80]} and {str(other)[:80]}"]


def report(tally: Tally, number: int) -> None:
    """Print the tables."""
    kinds = [*tally.jobs, "(idle)"]
    rows: list[tuple[Any, ...]] = [
        (kind, *(tally.kills[kind, victim] for victim in VICTIMS), sum(tally.kills[kind, v] for v in VICTIMS))
        for kind in kinds
    ]
    rows.append(("all", *(sum(tally.kills[kind, v] for kind in kinds) for v in VICTIMS), tally.kills.total()))
    table("Kills while a job of this kind ran, by victim", ("kind", *VICTIMS, "all"), rows)
    classes = ("lost", "doubled", "different", "half-written")
    rows = [
        (
            kind, tally.jobs[kind], tally.disturbed[kind], tally.attempts[kind],
            len({point for point in tally.points if point[0] == kind}), *(tally.faults[kind, one] for one in classes),
        )
        for kind in tally.jobs
    ]  # fmt: skip
    rows.append(
        ("all", tally.jobs.total(), tally.disturbed.total(), tally.attempts.total(), len(tally.points))
        + tuple(sum(tally.faults[kind, one] for kind in tally.jobs) for one in classes)
    )
    table(
        f"Jobs of every kind, killed at random until {number} were hit; strays: {tally.faults['all', 'stray']}",
        ("kind", "jobs", "hit", "attempts", "points", *classes), rows,
    )  # fmt: skip


def cancelled(workers: Workers, every: Sequence[Storm], number: int, draw: random.Random) -> None:
    """Cancel jobs of every kind at drawn moments; print the seconds until they have ended."""
    workers.stop()
    workers.start()
    workers.ready()
    taken: dict[str, list[float]] = {storm.kind: [] for storm in every}
    wrong: Counter[str] = Counter()
    tries = 0
    while sum(map(len, taken.values())) < number and tries < 3 * number:
        storm = every[tries % len(every)]
        tries += 1
        storm.ready()
        job = storm.launch()

        def begun(job: Job = job) -> bool:
            job.refresh_from_db()
            return job.state != "queued"

        until(begun, "no worker takes the job", LONGEST)
        passed(draw.uniform(0.0, 1.5))
        began = time.perf_counter()
        cancel_job(job, user=None)
        ended(job)
        seconds = time.perf_counter() - began
        if job.state == "cancelled":
            taken[storm.kind].append(seconds)
            wrong[storm.kind] += patient(storm.active)
        patient(storm.clean)
        for stray in strays():
            wrong[storm.kind] += 1
            show(f"{storm.kind}, cancelled: stray: {stray}")
    rows: list[tuple[Any, ...]] = [
        (kind, len(found), percentiles(found)[0] / 1000, max(found), wrong[kind])
        for kind, found in taken.items() if found
    ]  # fmt: skip
    all_of = [seconds for found in taken.values() for seconds in found]
    rows.append(("all", len(all_of), percentiles(all_of)[0] / 1000, max(all_of), wrong.total()))
    table("Seconds from a request to cancel to the end", ("kind", "jobs", "p50", "worst", "left behind"), rows)


def patient(look: Callable[[], T]) -> T:
    """Return what `look` returns, once Postgres answers again."""
    deadline = time.monotonic() + LONGEST
    while True:
        try:
            return look()
        except DatabaseError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
