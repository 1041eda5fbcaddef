"""Shows whether a worker is alive, by a key in the broker that the worker refreshes and that expires by itself.

Asking the workers (`celery inspect ping`) has to wait for answers that may never come. A key exists or does not.
"""

import json
import os
import socket
import threading
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import redis
import structlog
from django.conf import settings

from grasp_site.addresses import client_url
from grasp_site.device import device
from search.adapters.index_files.faults import faults
from search.services.searches import pace

BEAT_SECONDS = 1.0
LIFETIME_MILLISECONDS = 2500
ANSWER_SECONDS = 1.0

log = structlog.get_logger(__name__)


def worker_key(queue: str) -> str:
    return f"grasp:worker:{queue}"


def workers_key(queue: str) -> str:
    """Return the key of the sorted set of all workers of a queue: their reports, by the time of the report."""
    return f"grasp:workers:{queue}"


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


def worker_states(queue: str) -> list[dict[str, Any]]:
    """Return the last report of every worker of a queue: `worker`, `pid`, `host`, `device`, `processes`, `ahead`.

    `ahead` is how many seconds its clock is ahead of the broker's. `processes` are the worker's child processes, in
    which jobs run; `faults` are sentences about damaged index files. `seconds` is the mean time of its latest searches.
    Raises `redis.RedisError` as `worker_state` does.
    """
    client = broker(settings.REDIS_URL)
    since = _milliseconds(client) - LIFETIME_MILLISECONDS
    reports: list[bytes] = client.zrangebyscore(workers_key(queue), since, "+inf")  # type: ignore[assignment]
    found = [json.loads(report) for report in reports]
    newest = {(state["worker"], state["pid"]): state for state in found}
    return [newest[key] for key in sorted(newest)]


def _milliseconds(client: redis.Redis) -> int:
    """Return the broker's time, because the clocks of several machines may differ."""
    seconds, micros = client.time()
    return int(seconds) * 1000 + int(micros) // 1000


class Heartbeat(threading.Thread):
    """A thread that refreshes the key of one queue until it is stopped; it keeps trying while the broker is away."""

    def __init__(self, url: str, queue: str, worker: str) -> None:
        super().__init__(name=f"heartbeat-{queue}", daemon=True)
        self._url = url
        self._key = worker_key(queue)
        self._queue = queue
        self._report = {
            "worker": worker, "pid": os.getpid(), "host": socket.gethostname()[:255], "device": device(),
        }  # fmt: skip
        self._ended = threading.Event()

    def run(self) -> None:
        reachable = True
        while not self._ended.is_set():
            try:
                self._beat(broker(self._url))
                reachable = True
            except redis.RedisError as error:
                if reachable:
                    log.warning("broker away", reason=str(error))
                reachable = False
            self._ended.wait(BEAT_SECONDS)

    def stop(self) -> None:
        self._ended.set()

    def _beat(self, client: redis.Redis) -> None:
        """Refresh the queue's key and this worker's entry in the list of all; leave out entries that are too old."""
        now = _milliseconds(client)
        ahead = round(time.time() - now / 1000, 1)
        state = {"processes": _children(), "ahead": ahead, "faults": faults()}
        value = json.dumps(self._report | state | {"seconds": pace.mean()})
        beat = client.pipeline(transaction=False)
        beat.set(self._key, value, px=LIFETIME_MILLISECONDS)
        beat.zadd(workers_key(self._queue), {value: now})
        beat.zremrangebyscore(workers_key(self._queue), "-inf", now - LIFETIME_MILLISECONDS)
        beat.execute()


def _children() -> list[int]:
    """Return the child processes of this process; none where the system does not list them."""
    found: list[int] = []
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, listed.read_text(encoding="ascii").split())
    return sorted(found)
