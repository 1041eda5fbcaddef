"""run_here: do a job in this process."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from search.domain.run_context import LeaseLost, Progress, RunCancelled, RunContext
from search.ingest.progress import silent
from search.models import Job
from search.services.jobs.checkpoints import FileCheckpoints
from search.services.jobs.kinds import built, target_of
from search.services.jobs.ownership import claim_this
from search.services.jobs.run_context import RowNotes


def run_here(job: Job, progress: Progress | None = None) -> dict[str, Any]:
    """Claim the job, do it, write its end, and return its result; what the work raises is written and raised again."""
    claimed = claim_this(job.pk)
    if claimed is None:
        raise LeaseLost()
    folder = settings.GRASP_HOME / "jobs" / str(job.pk)
    run = RunContext(
        fenced=claimed.fenced, checkpoints=FileCheckpoints(folder, claimed.fence), notes=RowNotes(claimed),
        progress=progress or silent,
    )  # fmt: skip
    try:
        result = built(job.kind, job.arguments).run(target_of(job), run)
    except RunCancelled:
        claimed.finish(Job.State.CANCELLED, reason="It was cancelled.")
        raise
    except Exception as error:
        claimed.finish(Job.State.FAILED, reason=str(error) or type(error).__name__)
        raise
    claimed.finish(Job.State.DONE, result=result)
    return result
