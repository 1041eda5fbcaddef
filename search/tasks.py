"""Celery tasks: retry rules, then a call to a service."""

from __future__ import annotations

import structlog
from celery import Task, shared_task

from search.domain.errors import StageError
from search.services.jobs.tend import tend_jobs as tend
from search.services.jobs.work import work
from search.services.observing.carried import HEADER, resumed
from search.services.searches import run_search as service
from search.services.upkeep.retention import keep_up as retention

log = structlog.get_logger(__name__)


@shared_task(name="search.tasks.run_search", ignore_result=True, bind=True)
def run_search(self: Task, run_id: str, awaited: bool = False) -> None:
    """Execute one search; with `awaited` the notice of its end contains its description.

    It is never retried: a person waits for it, the row says what failed and why, and the person decides whether to ask
    again. It is not delivered again after its worker died (`acks_late` stays off): `end_abandoned` ends the row.
    """
    with resumed(self.request.get(HEADER)):
        try:
            service.run_search(run_id, live=True, awaited=awaited)
        except StageError as error:
            log.warning("search failed", run=run_id, stage=error.stage, reason=error.reason)


@shared_task(name="search.tasks.keep_up", ignore_result=True)
def keep_up() -> None:
    """End abandoned searches, and delete rows older than the site's retention time; Celery beat sends this task."""
    retention()


@shared_task(name="search.tasks.work_on_jobs", ignore_result=True)
def work_on_jobs(queue: str) -> None:
    """Do the runnable jobs of a queue.

    It is a hint and nothing more: it names no job, is acknowledged when it is taken, and may be lost or come twice.
    """
    work(queue)


@shared_task(name="search.tasks.tend_jobs", ignore_result=True)
def tend_jobs() -> None:
    """Settle jobs that nobody goes on with, launch schedules that are due, wake workers; Celery beat sends this."""
    tend()
