"""The bad rows that an import keeps with its job."""

from __future__ import annotations

from search.models import Job
from search.services.jobs.body import folder_of
from search.services.jobs.checkpoints import FileCheckpoints

FAULTS_FILE = "bad-rows.jsonl"
"""Checkpoint with every listed fault of the source, one JSON object a line."""


def bad_rows_of(job: Job) -> bytes | None:
    """Return the bad rows and remarks that a job has kept, as JSON lines; None if there are none."""
    return FileCheckpoints(folder_of(str(job.pk)), job.fence).load(FAULTS_FILE)
