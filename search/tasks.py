"""Celery tasks: retry rules, then a call to a service."""

from __future__ import annotations

import structlog
from celery import shared_task

from search.domain.errors import StageError
from search.services.searches import run_search as service
from search.services.upkeep.retention import keep_up as retention

log = structlog.get_logger(__name__)


@shared_task(name="search.tasks.run_search", ignore_result=True)
def run_search(run_id: str, awaited: bool = False) -> None:
    """Execute one search; with `awaited` the notice of its end contains its description.

    It is never retried: a person waits for it, the row says what failed and why, and the person decides whether to ask
    again. It is not delivered again after its worker died (`acks_late` stays off): `end_abandoned` ends the row.
    """
    try:
        service.run_search(run_id, live=True, awaited=awaited)
    except StageError as error:
        log.warning("search failed", run=run_id, stage=error.stage, reason=error.reason)


@shared_task(name="search.tasks.keep_up", ignore_result=True)
def keep_up() -> None:
    """End abandoned searches, and delete rows older than the site's retention time; Celery beat sends this task."""
    retention()
