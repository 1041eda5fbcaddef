"""Kinds of jobs for tests: one counts with checkpoints, one never looks whether it has to stop, one has a process."""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import structlog
from django.db import connection
from django.db.models import F

from search.domain.job_kinds import JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from search.models import RefusedRequests
from search.services.audit.note import note

DAY = date(2000, 1, 1)
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CountJob(JobKind):
    """Adds the numbers from 1 to `steps`, one a step, then adds one to a row: twice would be visible there."""

    targets: ClassVar[tuple[str, ...]] = ()
    name: str = argument("", "Name of the row that is counted up at the end.", required=True)
    steps: int = argument(20, "Steps.", low=1, high=100_000)
    pause: float = argument(0.02, "Seconds of a step.", low=0.0, high=600.0)

    def parts(self) -> Mapping[str, float]:
        """Return the parts."""
        return {"counting": self.steps * self.pause, "writing": 0.1}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Count on from the checkpoint, and write the sum once."""
        done, total = (int(part) for part in (run.checkpoints.load("sum") or b"0 0").split())
        run.log(f"goes on behind step {done}")
        while done < self.steps:
            run.check()
            time.sleep(self.pause)
            done, total = done + 1, total + done + 1
            run.checkpoints.save("sum", b"%d %d" % (done, total))
            run.progress("counting", done, self.steps)
            run.metric("total", done, total)
        run.progress("writing", 0, 1)
        with run.fenced():
            if run.notes.get("written") is None:
                RefusedRequests.objects.get_or_create(day=DAY, origin="job", kind=self.name)
                time.sleep(self.pause)
                RefusedRequests.objects.filter(kind=self.name).update(number=F("number") + 1)
                run.notes.put("written", True)
        run.progress("writing", 1, 1)
        return {"total": total}


@dataclass(frozen=True)
class StuckJob(JobKind):
    """Does one long step and never looks whether it has to stop."""

    targets: ClassVar[tuple[str, ...]] = ()
    name: str = argument("", "Makes the job another one.", required=True)
    how: str = argument("statement", "What it is stuck in.", choices=("statement", "interpreter", "loop", "lock"))

    def parts(self) -> Mapping[str, float]:
        """Return the parts."""
        return {"stuck": 1.0}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Be stuck in a statement of Postgres, in C code that holds the interpreter, in Python, or in a final write."""
        run.progress("stuck", 0, 1)
        run.log("stuck")
        # The report has to leave the process before it is stuck.
        time.sleep(0.2)
        if self.how == "statement":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(600)")
        elif self.how == "interpreter":
            re.match(r"(a|a)*b", "a" * 60)
        elif self.how == "lock":
            with run.fenced():
                RefusedRequests.objects.get_or_create(day=DAY, origin="job", kind=self.name)
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_sleep(600)")
        else:
            while True:
                pass
        return {}


@dataclass(frozen=True)
class ParentJob(JobKind):
    """Starts a process, as an evaluation of many questions does."""

    targets: ClassVar[tuple[str, ...]] = ()
    name: str = argument("", "Name of the job.", required=True)

    def parts(self) -> Mapping[str, float]:
        """Return the parts."""
        return {"starting": 1.0}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Return how the process ended."""
        process = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(0,), daemon=True)
        process.start()
        process.join()
        return {"exit": process.exitcode}


@dataclass(frozen=True)
class NotingJob(JobKind):
    """Notes in the audit log and in the log what it does, as a job that changes a knowledge base does."""

    targets: ClassVar[tuple[str, ...]] = ()
    name: str = argument("", "What is noted.", required=True)

    def parts(self) -> Mapping[str, float]:
        """Return the parts."""
        return {"noting": 0.1}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Note it."""
        note(self.name)
        log.info("noted by a job", name=self.name)
        return {}
