"""The connection of Celery to Valkey: kombu's Redis transport, with one client for each connection pool.

Kombu makes a new client for every message it sends, takes and acknowledges. A client of redis-py is made from tables of
several hundred commands, which takes longer than the commands themselves.
"""

from typing import Any

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport import redis as kombu_redis


class Channel(kombu_redis.Channel):
    """A channel that keeps its client, which is safe to share between threads, until its pool is replaced."""

    _kept: Any = None

    def _create_client(self, asynchronous: bool = False) -> Any:
        """Return the client of the present pool; with `asynchronous` a new one, with which its caller awaits tasks."""
        if asynchronous:
            return super()._create_client(asynchronous=True)
        kept = self._kept
        if kept is None or kept.connection_pool is not self.pool:
            kept = self._kept = super()._create_client()
        return kept


class Transport(kombu_redis.Transport):
    """Kombu's Redis transport with these channels."""

    Channel = Channel


def use_for_broker() -> None:
    """Make kombu use this transport for the addresses that `celery_url` returns."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"
