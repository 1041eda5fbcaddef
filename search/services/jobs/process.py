"""A job's work in a process of its own: its reports come through a pipe, and it can be killed at any moment.

The keeper stays in the parent, which does nothing else. So the lease is renewed however busy the work is, a request to
cancel is noticed in the middle of any step, and the death of the process is noticed at once.
"""

from __future__ import annotations

import json
import mmap
import multiprocessing.process
import os
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NoReturn

import structlog
from billiard.util import set_pdeathsig
from django.db import connections

from search.models import Job
from search.services.jobs.body import JobOutcome, context, do, outcome_of, signal_sentence
from search.services.jobs.ownership import JobClaim
from search.services.jobs.resources import gpu_memory_held

READ_BYTES = 1 << 16
SECONDS_BETWEEN = 0.1
"""Least seconds between two reports of progress of one part."""
EXIT_LOST_PARENT = 3

log = structlog.get_logger(__name__)


class Process:
    """A forked process that works on a job. `lines` yields its reports; `outcome` is known when it has ended."""

    def __init__(self, job: Job, claim: JobClaim) -> None:
        self._stop = mmap.mmap(-1, 1)
        self._reader, writer = os.pipe()
        self._unread = b""
        self._closed = False
        self._outcome: JobOutcome | None = None
        # The child must not share a connection with its parent.
        connections.close_all()
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._reader)
            _work(job, claim, writer, self._stop, parent)
        os.close(writer)
        os.set_blocking(self._reader, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._reader, selectors.EVENT_READ)

    def stop(self) -> None:
        """Ask the work to stop at its next check."""
        self._stop[0] = 1

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def reports(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Wait at most `seconds` for reports and yield them; the outcome is kept."""
        if self._closed or not self._selector.select(seconds):
            return
        try:
            received = os.read(self._reader, READ_BYTES)
        except BlockingIOError:
            return
        self._closed = not received
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            report = json.loads(line)
            if "outcome" in report:
                self._outcome = JobOutcome(**report["outcome"])
            else:
                yield report

    @property
    def closed(self) -> bool:
        """Whether the process has ended or is about to, and all of its reports have been read."""
        if self._closed:
            return True
        # A process that the work has started may keep the pipe open.
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return ended and not self._selector.select(0)

    def end(self) -> JobOutcome:
        """Wait for the end of the process and return how its work ended."""
        _, status = os.waitpid(self.pid, 0)
        self._selector.close()
        os.close(self._reader)
        self._stop.close()
        if self._outcome is not None:
            return self._outcome
        return JobOutcome(Job.State.QUEUED, signal_sentence(os.waitstatus_to_exitcode(status)), interrupted=True)


def _work(job: Job, claim: JobClaim, writer: int, stop: mmap.mmap, parent: int) -> NoReturn:
    """Do the job in the forked process, and leave it without running what the parent registered for its end."""
    code = 1
    try:
        with suppress(OSError):
            set_pdeathsig(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(EXIT_LOST_PARENT)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _leave_the_pool()
        _told(job, claim, _sender(writer), lambda: stop[0] == 1)
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _leave_the_pool() -> None:
    """Let multiprocessing take this process for one of its own.

    Celery's pool has told it that its processes are daemons, which may start none. This one is no part of the pool, and
    evaluations and trainings start several.
    """
    own = multiprocessing.Process()
    own.daemon = False
    own.authkey = os.urandom(32)
    module: Any = multiprocessing.process
    module._current_process = own


def _told(job: Job, claim: JobClaim, send: Callable[[dict[str, Any]], None], stop: Callable[[], bool]) -> None:
    def progress(part: str, done: int, total: int | None) -> None:
        report: dict[str, Any] = {"progress": [part, int(done), None if total is None else int(total)]}
        if held := gpu_memory_held():
            report["gpu_memory"] = [held]
        send(report)

    run = context(
        claim,
        stop,
        progress=progress,
        metric=lambda name, step, value: send({"metric": [name, int(step), float(value)]}),
        log=lambda text: send({"log": [text]}),
    )
    try:
        outcome = JobOutcome(Job.State.DONE, result=do(job, run))
    except BaseException as error:
        outcome = outcome_of(error)
        if outcome.state == Job.State.FAILED:
            log.warning("job failed", kind=job.kind, exc_info=error)
    send({"outcome": outcome.to_json()})


def _sender(writer: int) -> Callable[[dict[str, Any]], None]:
    """Return a function that writes one report; any thread may call it. Progress of little news is left out."""
    lock = threading.Lock()
    thin = _Thin()

    def send(report: dict[str, Any]) -> None:
        with lock:
            if "progress" in report and not thin.news(*report["progress"]):
                return
            line = json.dumps(report).encode() + b"\n"
            while line:
                line = line[os.write(writer, line) :]

    return send


class _Thin:
    """Decides which reports of progress are passed on: the first and the last of a part, and some between."""

    def __init__(self) -> None:
        self._part = ""
        self._passed = 0.0

    def news(self, part: str, done: int, total: int | None) -> bool:
        now = time.monotonic()
        if part == self._part and now - self._passed < SECONDS_BETWEEN and done != total:
            return False
        self._part, self._passed = part, now
        return True
