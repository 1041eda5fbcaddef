"""Shows whether a worker is alive, by a key in the broker that the worker refreshes and that expires by itself.

Asking the workers (`celery inspect ping`) has to wait for answers that may never come. A key exists or does not.
"""

import json
import os
import threading
from functools import lru_cache
from typing import Any

import redis
import structlog
from django.conf import settings

from grasp_site.addresses import client_url

BEAT_SECONDS = 1.0
LIFETIME_MILLISECONDS = 2500
ANSWER_SECONDS = 1.0

log = structlog.get_logger(__name__)


def worker_key(queue: str) -> str:
    return f"grasp:worker:{queue}"


@lru_cache(maxsize=4)
def broker(url: str) -> redis.Redis:
    """Return a client of the broker that gives up after a second, so that a page can report the problem."""
    return redis.Redis.from_url(client_url(url), socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS)


def worker_alive(queue: str) -> bool:
    """Return whether a worker of this queue sent a heartbeat recently.

    Raises `redis.RedisError` if the broker does not answer.
    """
    return worker_state(queue) is not None


def worker_state(queue: str) -> dict[str, Any] | None:
    """Return the last report of the queue's worker about itself (`worker`, `pid`), or None if there is no worker.

    Raises `redis.RedisError` if the broker does not answer.
    """
    value = broker(settings.REDIS_URL).get(worker_key(queue))
    return json.loads(value) if isinstance(value, bytes) else None


class Heartbeat(threading.Thread):
    """A thread that refreshes the key of one queue until it is stopped; it keeps trying while the broker is away."""

    def __init__(self, url: str, queue: str, worker: str) -> None:
        super().__init__(name=f"heartbeat-{queue}", daemon=True)
        self._url = url
        self._key = worker_key(queue)
        self._value = json.dumps({"worker": worker, "pid": os.getpid()})
        self._ended = threading.Event()

    def run(self) -> None:
        reachable = True
        while not self._ended.is_set():
            try:
                broker(self._url).set(self._key, self._value, px=LIFETIME_MILLISECONDS)
                reachable = True
            except redis.RedisError as error:
                if reachable:
                    log.warning("broker away", reason=str(error))
                reachable = False
            self._ended.wait(BEAT_SECONDS)

    def stop(self) -> None:
        self._ended.set()
