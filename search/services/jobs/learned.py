"""What former jobs of a kind have taken on this machine, for each part of their work."""

from __future__ import annotations

import socket

from search.domain.work_parts import Former, History, former_of
from search.models import Job

FORMER_JOBS = 30
"""Newest finished jobs that are looked at."""


def history(kind: str) -> History:
    """Return part → what it took in the newest jobs of a kind that this machine has done without an interruption."""
    here = socket.gethostname()[:255]
    done = Job.objects.filter(kind=kind, state=Job.State.DONE, worker_host=here, attempt__lte=1)
    found: dict[str, list[Former]] = {}
    for progress in done.order_by("-finished").values_list("progress", flat=True)[:FORMER_JOBS]:
        for name, former in former_of(progress):
            found.setdefault(name, []).append(former)
    return found
