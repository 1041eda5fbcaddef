"""The state of each service that a search needs, for `readyz` and the page of services. The table is `settings.GRASP_HEALTH`."""

from dataclasses import dataclass

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from grasp_site.heartbeat import broker, worker_alive


@dataclass(frozen=True)
class Health:
    """`reason` says what is wrong and what would help; it is empty while `ok`."""

    ok: bool
    reason: str = ""


def database() -> Health:
    """Whether Postgres answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        # A connection that broke is of no use to the next request either.
        connection.close()
        return Health(False, f"Postgres does not answer: {_first_line(error)}")
    return Health(True)


def queue_broker() -> Health:
    """Whether Valkey answers."""
    try:
        broker(settings.REDIS_URL).ping()
    except redis.RedisError as error:
        return Health(False, f"Valkey does not answer: {_first_line(error)}")
    return Health(True)


def search_worker() -> Health:
    """Whether a worker takes searches; it says so from the moment its models are loaded."""
    try:
        alive = worker_alive("search")
    except redis.RedisError:
        return Health(False, "Unknown while Valkey does not answer.")
    return Health(True) if alive else Health(False, "No search worker is running, or it is still loading its models.")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
