"""Notices over Valkey that the row of a search has changed, so that no process has to poll the row frequently.

A notice contains the id of the run, and the notice of its end may contain the answer, so that the process that waits
for it reads no rows. A notice may be lost: a listener also reads the row from time to time without a notice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

import redis
import structlog
from django.conf import settings

from grasp_site.heartbeat import broker

CHANNEL = "grasp:runs"
RETRY_SECONDS = 0.5
"""Seconds until a listener that lost its connection tries again."""
WAIT_SECONDS = 1.0
"""Timeout in seconds of each call that waits for a notice."""

log = structlog.get_logger(__name__)
Hears = Callable[[bytes | None], None]


def notices() -> ValkeyNotices:
    """Return the one `ValkeyNotices` of this process, with the broker of the settings."""
    return _notices(settings.REDIS_URL)


@lru_cache(maxsize=4)
def _notices(url: str) -> ValkeyNotices:
    return ValkeyNotices(url)


class ValkeyNotices:
    """Sends and receives notices of changed runs. All listeners of a process share one connection and one thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiting: dict[str, set[Hears]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._connected = threading.Event()

    def tell(self, run: str, answer: bytes | None = None) -> None:
        """Send the notice that this run changed; `answer` is None while it goes on, and may be empty at its end.

        If the broker does not answer, the notice is lost, without error.
        """
        try:
            broker(self._url).publish(CHANNEL, run.encode() if answer is None else b"%b %b" % (run.encode(), answer))
        except redis.RedisError as error:
            log.debug("notice lost", run=run, reason=str(error))

    @property
    def hears(self) -> bool:
        """Whether this process receives notices now."""
        return self._connected.is_set()

    @contextmanager
    def heard(self, run: str, call: Hears) -> Iterator[None]:
        """Within the context, call `call` from another thread with the answer that each notice of this run contains.

        `call` is also called after each connection, with an empty answer, because the notice of the end may have been
        lost before it.
        """
        self._start()
        with self._lock:
            self._waiting.setdefault(run, set()).add(call)
        try:
            yield
        finally:
            with self._lock:
                calls = self._waiting[run]
                calls.discard(call)
                if not calls:
                    del self._waiting[run]

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = threading.Thread(target=self._listen, name="notices", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        pause = threading.Event()
        while True:
            try:
                self._hear()
            except redis.RedisError as error:
                if self._connected.is_set():
                    log.warning("notices of searches are lost", reason=str(error))
                self._connected.clear()
                pause.wait(RETRY_SECONDS)

    def _hear(self) -> None:
        """Call the listeners for each notice; raises `redis.RedisError` when the connection breaks."""
        with broker(self._url).pubsub(ignore_subscribe_messages=True) as heard:
            heard.subscribe(CHANNEL)
            # Wait for the confirmation of the subscription. No later notice is missed; earlier ones may be lost.
            heard.get_message(timeout=WAIT_SECONDS)
            self._connected.set()
            self._wake(None, b"")
            while True:
                notice = heard.get_message(timeout=WAIT_SECONDS)
                if notice is not None:
                    run, ended, answer = notice["data"].partition(b" ")
                    self._wake(run.decode(), answer if ended else None)

    def _wake(self, run: str | None, answer: bytes | None) -> None:
        """Call the listeners of a run, or all listeners if `run` is None."""
        with self._lock:
            runs = list(self._waiting) if run is None else [run]
            calls = [call for one in runs for call in self._waiting.get(one, ())]
        for call in calls:
            call(answer)
