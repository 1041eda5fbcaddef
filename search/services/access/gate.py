"""gate: the limits that all processes share, by the dotted paths of `settings.GRASP_GATE`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis
import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from search.domain.errors import ServiceUnavailable

log = structlog.get_logger(__name__)


def take(name: str, most: int, seconds: float) -> float:
    """Take one of `most` permits per `seconds` under a name; return 0, or the seconds until one is free.

    Raises ServiceUnavailable when Valkey does not answer.
    """
    with _answering():
        return import_string(settings.GRASP_GATE["take"])(name, most, seconds)


def give_back(name: str) -> None:
    """Give back the permit that was taken last under a name. If Valkey does not answer, the permit expires later."""
    try:
        import_string(settings.GRASP_GATE["give_back"])(name)
    except redis.RedisError as error:
        log.warning("nothing given back", reason=str(error))


def reserve(queue: str, length: int) -> str | None:
    """Reserve a place in a queue of at most `length` tasks and return its id; None if the queue is full.

    Raises ServiceUnavailable when Valkey does not answer.
    """
    with _answering():
        return import_string(settings.GRASP_GATE["reserve"])(queue, length)


def queued(queue: str) -> tuple[int, float]:
    """Return the number of tasks that wait in a queue, and the seconds for which the oldest has, 0 if none waits.

    Raises ServiceUnavailable when Valkey does not answer.
    """
    with _answering():
        return import_string(settings.GRASP_GATE["queued"])(queue)


def release(queue: str, place: str) -> None:
    """Release a reserved place. If Valkey does not answer, the place is released by itself within seconds."""
    try:
        import_string(settings.GRASP_GATE["release"])(queue, place)
    except redis.RedisError as error:
        log.warning("place in the queue not released", reason=str(error))


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        reason = "Valkey does not answer, so nothing can be queued; ask again in a moment."
        raise ServiceUnavailable("Valkey", reason) from error
