"""Says, over Valkey, that something was written of a search, so that nobody has to look at its row again and again.

A notice is a hint: it may be lost, and says nothing but the id of the run. Whoever hears one looks at the row, and
looks now and then without one.
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
"""Seconds that a listener waits for a notice at a time."""

log = structlog.get_logger(__name__)


def notices() -> ValkeyNotices:
    """Return this process' notices over the broker of the settings."""
    return _notices(settings.REDIS_URL)


@lru_cache(maxsize=4)
def _notices(url: str) -> ValkeyNotices:
    return ValkeyNotices(url)


class ValkeyNotices:
    """Tells and hears of changes to runs. One a process is enough: every listener shares its connection and thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiting: dict[str, set[Callable[[], None]]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._connected = threading.Event()

    def tell(self, run: str) -> None:
        """Tell whoever listens that this run changed. Without a broker nobody hears it, and nothing is raised."""
        try:
            broker(self._url).publish(CHANNEL, run)
        except redis.RedisError as error:
            log.debug("notice lost", run=run, reason=str(error))

    @property
    def hears(self) -> bool:
        """Whether notices come in at this moment."""
        return self._connected.is_set()

    @contextmanager
    def heard(self, run: str, call: Callable[[], None]) -> Iterator[None]:
        """Have `call` called, from another thread, after each notice of this run; also when notices may be missing."""
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
        """Pass notices on until the connection breaks."""
        with broker(self._url).pubsub(ignore_subscribe_messages=True) as heard:
            heard.subscribe(CHANNEL)
            # The confirmation: from here on nothing is missed, but something may have been until now.
            heard.get_message(timeout=WAIT_SECONDS)
            self._connected.set()
            self._wake(None)
            while True:
                notice = heard.get_message(timeout=WAIT_SECONDS)
                if notice is not None:
                    self._wake(notice["data"].decode())

    def _wake(self, run: str | None) -> None:
        """Call those who wait for a run, or everybody."""
        with self._lock:
            runs = list(self._waiting) if run is None else [run]
            calls = [call for one in runs for call in self._waiting.get(one, ())]
        for call in calls:
            call()
