"""The state of each service that a search needs; `settings.GRASP_HEALTH` lists the checks for pages and `readyz`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from grasp_site.heartbeat import broker, worker_alive, worker_state, worker_states
from search.services.knowledge.encoder_state import missing_encoders
from search.services.knowledge.graph_state import graph_state
from search.services.knowledge.vector_state import vector_state


@dataclass(frozen=True)
class Health:
    """The result of a check; `reason` names the fault and its remedy, and is empty if `ok`."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True)
class Queue:
    """A queue: its number of waiting tasks, and what its workers last reported about themselves.

    `worker` is one of them, or None if there is no worker.
    """

    name: str
    waiting: int
    worker: dict[str, Any] | None
    workers: Sequence[dict[str, Any]] = ()


def queues() -> list[Queue]:
    """Return the present state of every queue of the site. Raises `redis.RedisError` if the broker does not answer."""
    client = broker(settings.REDIS_URL)
    return [
        Queue(name, int(client.llen(name)), worker_state(name), worker_states(name)) for name in settings.GRASP_WARM_UP
    ]


def database() -> Health:
    """Return whether Postgres answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        # A broken connection must not be used by the next request.
        connection.close()
        return Health(False, f"Postgres does not answer: {_first_line(error)}")
    return Health(True)


def queue_broker() -> Health:
    """Return whether Valkey answers."""
    try:
        broker(settings.REDIS_URL).ping()
    except redis.RedisError as error:
        return Health(False, f"Valkey does not answer: {_first_line(error)}")
    return Health(True)


def search_worker() -> Health:
    """Return whether a worker accepts searches; a worker reports itself once its models are loaded."""
    try:
        alive = worker_alive("search")
    except redis.RedisError:
        return Health(False, "Unknown while Valkey does not answer.")
    if not alive:
        return Health(False, "No search worker is running, or it is still loading its models.")
    return Health(True)


def encoders() -> Health:
    """Return whether this site has the encoder of every active release; without it, searches of that release fail."""
    reason = " ".join(missing_encoders())
    return Health(not reason, reason)


def index_files() -> Health:
    """Return whether every search worker has the index files that it needs, each as it was built."""
    try:
        told = [fault for state in worker_states("search") for fault in state.get("faults", ())]
    except redis.RedisError:
        return Health(False, "Unknown while Valkey does not answer.")
    return Health(not told, " ".join(dict.fromkeys(told)))


def graph_database() -> Health:
    """Return whether Neo4j answers and holds the active graphs; checked only if `NEO4J_URL` is set."""
    reason = graph_state()
    return Health(not reason, reason)


def vector_engine() -> Health:
    """Return whether the vector engine answers and holds the large active releases; only if `VECTORS_URL` is set."""
    reason = vector_state()
    return Health(not reason, reason)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
