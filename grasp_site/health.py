"""The state of each service that a search needs; `settings.GRASP_HEALTH` is the table for `readyz` and the pages."""

from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from grasp_site.heartbeat import broker, worker_alive, worker_state
from search.services.knowledge.encoder_state import missing_encoders
from search.services.knowledge.graph_state import graph_state


@dataclass(frozen=True)
class Health:
    """`reason` says what is wrong and what would help; it is empty while `ok`."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True)
class Queue:
    """A queue: how many tasks wait in it, and what its worker last said about itself (None when none is alive)."""

    name: str
    waiting: int
    worker: dict[str, Any] | None


def queues() -> list[Queue]:
    """Every queue of the site as it is now. Raises `redis.RedisError` when the broker is away."""
    client = broker(settings.REDIS_URL)
    return [Queue(name, int(client.llen(name)), worker_state(name)) for name in settings.GRASP_WARM_UP]


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


def encoders() -> Health:
    """Whether this site has the encoder of every active release; without it, searches of that release fail."""
    reason = " ".join(missing_encoders())
    return Health(not reason, reason)


def graph_database() -> Health:
    """Whether Neo4j answers and holds what it should; asked only where `NEO4J_URL` names one."""
    reason = graph_state()
    return Health(not reason, reason)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
