"""delete_old_jobs, delete_checkpoints: remove the rows of old jobs, and checkpoints that nobody goes on from."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from search.models import Job
from search.services.jobs.body import folder_of
from search.services.leftovers import delete_leftovers, entries, ids, leftover_days, remove

BATCH = 100
"""Jobs that one transaction deletes. Each may have thousands of lines and metrics, so that locks stay short."""


def delete_old_jobs(days: int | None = None) -> int:
    """Delete the jobs that ended more than `days` days ago, with their lines, metrics and checkpoints.

    None means the site's `GRASP_JOB_DAYS`. Jobs that wait or run always stay. Returns the number of deleted jobs.
    """
    before = timezone.now() - timedelta(days=settings.GRASP_JOB_DAYS if days is None else days)
    ended = Job.objects.exclude(state__in=Job.LIVE).filter(finished__lt=before).order_by("finished")
    deleted = 0
    while True:
        with transaction.atomic():
            # A job that somebody resumes at this moment is locked or no longer ended, and so it stays.
            batch = list(ended.select_for_update(skip_locked=True).values_list("pk", flat=True)[:BATCH])
            Job.objects.filter(pk__in=batch).delete()
        for pk in batch:
            remove(folder_of(str(pk)))
        deleted += len(batch)
        if len(batch) < BATCH:
            return deleted


def delete_checkpoints() -> int:
    """Delete the checkpoints of jobs that are done, and old folders of checkpoints without a job.

    Those of failed and cancelled jobs stay, because such a job can be resumed. Returns the number of deleted folders.
    """
    folder = folder_of("")
    names = [entry.name for entry in entries(folder)]
    done = _jobs(names, Job.State.DONE)
    for name in done:
        remove(folder / name)
    return len(done) + delete_leftovers(folder, leftover_days(), _jobs)


def _jobs(names: Collection[str], *states: str) -> set[str]:
    """Return those names that are ids of jobs, in one of the states if some are given."""
    jobs = Job.objects.filter(pk__in=ids(names))
    if states:
        jobs = jobs.filter(state__in=states)
    return {str(pk) for pk in jobs.values_list("pk", flat=True)}
