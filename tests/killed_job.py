"""Works on a job in a process of its own, which stops at a chosen point so that a test can kill it there.

`python -m tests.killed_job JOB POINT ENCODER`: a point is a look whether the work must stop, or the inside of a final
write before it is committed. At point number POINT the process prints `here` and waits until its input is closed; then
it goes on. At the end it prints `done` and the number of points.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

import django

django.setup()

from django.conf import settings  # noqa: E402

from search.ingest import load  # noqa: E402
from search.models import Job  # noqa: E402
from search.services.jobs.body import context, do  # noqa: E402
from search.services.jobs.ownership import JobClaim, claim_this  # noqa: E402

CLAIM_SECONDS = 20.0


class Points:
    """Counts the points that the work passes, and waits at one of them."""

    def __init__(self, stop_at: int) -> None:
        self.passed = 0
        self._stop_at = stop_at
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        with self._lock:
            self.passed += 1
            if self.passed == self._stop_at:
                sys.stdout.write("here\n")
                sys.stdout.flush()
                sys.stdin.read()
        return False


def claimed(job_id: str) -> JobClaim:
    """Claim the job; Postgres may need a moment to see that the process which held its row was killed."""
    deadline = time.monotonic() + CLAIM_SECONDS
    while (claim := claim_this(UUID(job_id))) is None:
        assert time.monotonic() < deadline, "the job cannot be claimed"
        time.sleep(0.05)
    return claim


def main(job_id: str, stop_at: int, encoder: str) -> None:
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    settings.GRASP_ENCODER, settings.GRASP_ENCODERS = encoder, {encoder: {}}
    load.NODES_A_BLOCK, load.EDGES_A_BLOCK = 40, 100
    claim = claimed(job_id)
    points = Points(stop_at)
    run = context(claim, points, lambda *_: None, lambda *_: None, lambda text: None)

    @contextmanager
    def fenced() -> Iterator[None]:
        with claim.fenced():
            yield
            points()

    result = do(Job.objects.get(pk=job_id), replace(run, fenced=fenced))
    claim.finish(Job.State.DONE, result=result)
    sys.stdout.write(f"done {points.passed}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
