"""health: the state of each service and queue, with the reason; it raises nothing and answers within about a second.

The settings name the checks by dotted path (`GRASP_HEALTH`, `GRASP_QUEUES`), because the site knows its processes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any, TypeVar

import redis
from django.conf import settings
from django.db import connection
from django.utils.module_loading import import_string

CHECK_SECONDS = 1.0
"""Time limit in seconds for all checks together."""

QUEUE_STATE_SECONDS = 1.0
"""Seconds for which the state of the queues is cached."""

STILL_BELIEVED_SECONDS = 5.0
"""Seconds for which a positive answer stays valid if the next probe times out. A negative one applies at once."""

OPTIONAL_QUEUES = ("gpu",)
"""Queues that lack nothing without a worker, as long as no task waits in them."""

T = TypeVar("T")

_believed: dict[tuple[str, str], tuple[float, list[Any] | None]] = {}
_believing = threading.Lock()
_checkers = ThreadPoolExecutor(max_workers=8, thread_name_prefix="health")


def system_status() -> list[dict[str, str]]:
    """Return `name`, `state` (`ready`, `down`, `degraded`) and `reason` (empty if ready) of every service.

    A `degraded` service does not answer either, but searches work without it (`GRASP_HEALTH_OPTIONAL`). The checks run
    in parallel; one that does not answer within `CHECK_SECONDS` counts as down.
    """
    asked = {name: _beside(import_string(path)) for name, path in settings.GRASP_HEALTH.items()}
    done, _ = wait_for(asked.values(), timeout=CHECK_SECONDS)
    return [_state(name, check.result() if check in done else None) for name, check in asked.items()]


def all_ready(services: Sequence[Mapping[str, str]]) -> bool:
    """Whether every service that a search needs is ready."""
    return all(service["state"] != "down" for service in services)


def queue_status() -> list[dict[str, Any]]:
    """Return `name`, `waiting` (tasks), `worker`, `workers`, `reason` and `needed` (a worker) of every queue.

    It is empty if the broker does not answer.
    """
    return [
        {
            "name": queue.name,
            "waiting": queue.waiting,
            "worker": queue.worker,
            "workers": list(queue.workers),
            "reason": "" if queue.worker else f"waiting: no worker for queue {queue.name}",
            "needed": bool(queue.waiting) or queue.name not in OPTIONAL_QUEUES,
        }
        for queue in _queues() or []
    ]


def worker_alive(queue: str) -> bool | None:
    """Return whether a worker of that queue lived within the last seconds, None while the broker cannot say.

    The answer is kept for `QUEUE_STATE_SECONDS` seconds, because every search and every page that follows one needs it.
    """
    found = _believed_queues((settings.GRASP_QUEUES, settings.REDIS_URL))
    if found is None:
        return None
    return any(known.name == queue and known.worker is not None for known in found)


def workers_of(queue: str) -> list[Mapping[str, Any]]:
    """Return what the living workers of a queue last said about themselves, as `worker_alive` keeps it.

    One that is known to live but has said nothing else counts as an empty report.
    """
    found = _believed_queues((settings.GRASP_QUEUES, settings.REDIS_URL)) or []
    for known in found:
        if known.name == queue and known.worker is not None:
            return list(known.workers) or [{}]
    return []


def forget() -> None:
    """Clear the cached state of the queues; the next call queries the services again."""
    with _believing:
        _believed.clear()


def _believed_queues(asked: tuple[str, str]) -> list[Any] | None:
    with _believing:
        if asked not in _believed or time.monotonic() - _believed[asked][0] >= QUEUE_STATE_SECONDS:
            try:
                found = _asked_queues()
            except TimeoutError:
                # This process itself may be too busy to hear the answer in time.
                former = _believed.get(asked, (0.0, None))
                return former[1] if time.monotonic() - former[0] < STILL_BELIEVED_SECONDS else None
            _believed[asked] = time.monotonic(), found
        return _believed[asked][1]


def _queues() -> list[Any] | None:
    try:
        return _asked_queues()
    except TimeoutError:
        return None


def _asked_queues() -> list[Any] | None:
    """Return the state of the queues, None if the broker cannot be reached. Raises TimeoutError after a second."""
    asked = _beside(import_string(settings.GRASP_QUEUES))
    wait_for([asked], timeout=CHECK_SECONDS)
    try:
        return asked.result(timeout=0)
    except redis.RedisError:
        return None


def _beside(check: Callable[[], T]) -> Future[T]:
    """Run a check in another thread and return its future; the thread's database connection is closed afterwards."""

    def run() -> T:
        try:
            return check()
        finally:
            connection.close()

    return _checkers.submit(run)


def _state(name: str, health: Any) -> dict[str, str]:
    if health is not None and health.ok:
        return {"name": name, "state": "ready", "reason": health.reason}
    reason = f"It has not answered within {CHECK_SECONDS:.0f} second." if health is None else health.reason
    return {"name": name, "state": "degraded" if name in settings.GRASP_HEALTH_OPTIONAL else "down", "reason": reason}
