"""wake: tell a worker that its queue has a job, and tell followers that a job has changed.

Both are hints. Who runs a job is decided in Postgres; a lost hint costs the seconds until the next look.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from celery import current_app
from kombu.exceptions import OperationalError as BrokerError

from search.services.searches.watch_search import notices

TASK = "search.tasks.work_on_jobs"
SECONDS_VALID = 3600.0
"""Seconds after which a hint that no worker took is dropped."""

log = structlog.get_logger(__name__)


def wake(queue: str) -> bool:
    """Send a hint to the workers of a queue; return whether the broker took it."""
    try:
        current_app.send_task(TASK, args=[queue], queue=queue, expires=SECONDS_VALID)
    except (BrokerError, OSError) as error:
        log.warning("jobs: a worker could not be woken", queue=queue, reason=str(error))
        return False
    return True


def tell(job: UUID) -> None:
    """Tell whoever follows the job that its row has changed."""
    notices().tell(str(job))
