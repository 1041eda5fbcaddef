"""Real workers of jobs on the test database, with the kinds of `tests.job_kinds`; and what kills them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import psutil
from django.db import DatabaseError, connection

from grasp_site.embedded.home import PROJECT, Home
from grasp_site.embedded.programs import job_worker
from grasp_site.heartbeat import worker_state
from search.models import Job, RefusedRequests
from search.services.jobs.launch import launch_job
from search.services.jobs.tend import tend_jobs
from tests.guarded import guarded

LONGEST = 60.0
ENDED = (Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED)


class Workers:
    """The workers of the queue `jobs` that a test has started."""

    def __init__(self, environment: dict[str, str], home: Home, settings: str = "tests.job_site") -> None:
        self._environment = {**environment, "DJANGO_SETTINGS_MODULE": settings}
        self._log = home.log("job worker of tests")
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker in a group of its own, with more in its environment; it is not waited for."""
        command = [*job_worker("jobs").command, "--hostname", f"jobs-{uuid4().hex[:8]}@%h"]
        with self._log.open("ab") as output:
            process = guarded(
                command, signal.SIGKILL, cwd=PROJECT, env=self._environment | environment, stdout=output, stderr=output
            )
        self.processes.append(process)
        return process

    def ready(self) -> None:
        """Wait until a worker reports itself."""
        until(lambda: worker_state("jobs") is not None, "no worker of jobs starts")

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a worker with signal 9, and only it: its children have to notice themselves."""
        process.kill()
        process.wait()

    def stop(self) -> None:
        """Kill everything that was started."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.processes.clear()

    def log(self) -> str:
        """Return what the workers have written."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""


def bodies(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the processes that do the jobs of a worker: the children of the processes of its pool."""
    with suppress(psutil.NoSuchProcess):
        return [body for pool in psutil.Process(worker.pid).children() for body in pool.children()]
    return []


def keepers(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the processes of a worker's pool, which keep the leases."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(worker.pid).children()
    return []


def launched(kind: str = "count", **arguments: Any) -> Job:
    """Launch a job of a test's kind under a name of its own."""
    job, new = launch_job(kind=kind, arguments={"name": uuid4().hex, **arguments})
    assert new
    return job


def counted(job: Job) -> int:
    """Return how often the final write of a job has happened."""
    return sum(RefusedRequests.objects.filter(kind=job.arguments["name"]).values_list("number", flat=True))


def until(true: Callable[[], Any], otherwise: str | Callable[[], str], seconds: float = LONGEST) -> Any:
    """Wait until a condition holds, meanwhile doing what Celery's beat does; return what the condition returned."""
    deadline = time.monotonic() + seconds
    tended = 0.0
    while True:
        try:
            if found := true():
                return found
            if time.monotonic() - tended > 0.5:
                tend_jobs()
                tended = time.monotonic()
        except DatabaseError:
            connection.close()
        assert time.monotonic() < deadline, otherwise if isinstance(otherwise, str) else otherwise()
        time.sleep(0.02)


def passed(seconds: float) -> None:
    """Let a drawn time pass, so that what follows hits any point of the work."""
    at = time.monotonic() + seconds
    until(lambda: time.monotonic() >= at, "time does not pass")


def ended(job: Job, seconds: float = LONGEST) -> Job:
    """Wait for the end of a job and return its row."""

    def over() -> bool:
        job.refresh_from_db()
        return job.state in ENDED

    until(over, lambda: f"the job has not ended: {job}", seconds)
    return job


def running(job: Job, step: int = 0) -> Job:
    """Wait until a job runs and has come to a step."""

    def there() -> bool:
        job.refresh_from_db()
        return job.state == Job.State.RUNNING and job.progress.get("done", 0) >= step

    until(there, lambda: f"the job does not come to step {step}: {job}")
    return job


@contextmanager
def stopped(process: psutil.Process) -> Iterator[None]:
    """Hold a process still inside the block, as a machine without processor time would."""
    process.suspend()
    try:
        yield
    finally:
        with suppress(psutil.NoSuchProcess):
            process.resume()


def kill_service(home: Home, name: str) -> None:
    """Kill a server of the tests' own services with signal 9, and all it has started; its keeper starts it again."""
    mark = str(home.postgres.resolve()) if name == "postgres" else str(home.valkey)
    servers = [
        process for process in psutil.process_iter(["cmdline", "name"])
        if process.info["name"].startswith(name) and _of_home(process, mark, home)
    ]  # fmt: skip
    assert servers, f"no {name} runs"
    for server in servers:
        with suppress(psutil.NoSuchProcess):
            server.kill()


def _of_home(process: psutil.Process, mark: str, home: Home) -> bool:
    with suppress(psutil.Error):
        return any(place in part for part in process.cmdline() for place in (mark, str(home.root), str(home.run)))
    return False
