"""send_search: hand a recorded search to the search worker."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import structlog
from celery import current_app
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from search.domain.errors import ServiceUnavailable
from search.models import SearchRun
from search.services.health import worker_alive
from search.services.observing.carried import HEADER, carried
from search.services.searches.sent import SENT

TASK = "search.tasks.run_search"
QUEUE = "search"

log = structlog.get_logger(__name__)


def send_search(run: SearchRun, awaited: bool) -> None:
    """Send the task to the broker, after a check with a short time limit that the broker answers."""
    try:
        if worker_alive(QUEUE) is None:
            raise BrokerError("no answer within a second")
        _publish([str(run.pk), awaited], run.time_limit)
    except (BrokerError, OSError) as error:
        reason = "Valkey does not answer, so the search was not queued; ask again in a moment."
        run.status, run.finished = SearchRun.Status.FAILED, timezone.now()
        run.error = {"title": "Valkey is not reachable", "detail": reason, "stage": "queue"}
        run.save(update_fields=["status", "finished", "error"])
        raise ServiceUnavailable("Valkey", reason) from error
    log.info("search requested", run=str(run.pk), pipeline=run.pipeline, release=run.release_name)


def _publish(arguments: list[Any], seconds: float) -> None:
    """Put the task into the queue; it expires after `seconds`. Raises BrokerError or OSError if the broker is away.

    Celery's `send_task` does the same, but first asks the router, the result backend and the receivers of its signals,
    which this task has not; that takes two thirds of its time.
    """
    task = current_app.amqp.as_task_v2(str(uuid4()), TASK, args=arguments, expires=seconds, ignore_result=True)
    policy = current_app.conf.task_publish_retry_policy
    headers = {**task.headers, HEADER: carried(), SENT: time.time()}
    with current_app.producer_pool.acquire(block=True) as producer:
        producer.publish(
            task.body, routing_key=QUEUE, exchange="", serializer=current_app.conf.task_serializer,
            headers=headers, retry=True, retry_policy=policy, **task.properties,
        )  # fmt: skip
