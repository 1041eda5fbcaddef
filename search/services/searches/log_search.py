"""log_search: one line of the log for each ended search; with the id of its request, one grep follows a search."""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from django.conf import settings

from search.domain.trace import Step
from search.models import SearchRun

LONGEST_QUESTION = 1000
"""Characters of a question that are logged if `GRASP_LOG_QUESTIONS` is set."""

log = structlog.get_logger(__name__)


def log_search(run: SearchRun, steps: Sequence[Step]) -> None:
    """Log an ended search: its names, numbers and states. The question only if `GRASP_LOG_QUESTIONS` is set."""
    stages = {step.name: round(step.seconds, 4) for step in steps}
    more = {"question": run.question[:LONGEST_QUESTION]} if settings.GRASP_LOG_QUESTIONS else {}
    if hindered := [step.name for step in steps if step.status in ("degraded", "failed")]:
        more["degraded"] = ",".join(hindered)
    log.info(
        "search ended", run=str(run.pk), status=run.status, pipeline=run.pipeline, release=run.release_name,
        seconds=round(run.seconds or 0.0, 4), stages=stages, **more,
    )  # fmt: skip
