"""limits: how many searches and exports a caller may request in a minute, and how many searches may wait."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from search.domain.errors import QueueFull, TooManySearches
from search.services.access import gate
from search.services.access.visitors import User, Visitor
from search.services.health import workers_of

MINUTE = 60.0
FULL_SECONDS = 2.0
"""Seconds after which a search that was refused by a full queue may be requested again: the time to empty the queue."""


def count_search(user: User, visitor: Visitor) -> None:
    """Count a search against the limit of its caller: of the token, else the account, else the network address.

    Raises TooManySearches when the limit is reached, and ServiceUnavailable when Valkey does not answer.
    """
    _count("searches", "ask", user, visitor)


def count_export(user: User, visitor: Visitor) -> None:
    """Count a downloaded export against the limit of its caller, which is that of searches. Raises as `count_search`.

    Exports and searches are counted apart.
    """
    _count("exports", "download", user, visitor)


def _count(kind: str, does: str, user: User, visitor: Visitor) -> None:
    if visitor.token is not None:
        name, most, who = f"token:{visitor.token}", settings.GRASP_SEARCHES_PER_MINUTE_TOKEN, "A token"
    elif user is not None and user.is_authenticated:
        name, most, who = f"user:{user.pk}", settings.GRASP_SEARCHES_PER_MINUTE_USER, "An account"
    else:
        name, most, who = f"address:{visitor.network}", settings.GRASP_SEARCHES_PER_MINUTE, "An address"
    if not most:
        return
    seconds = gate.take(f"{kind}:{name}", most, MINUTE)
    if seconds:
        wait = math.ceil(seconds)
        raise TooManySearches(f"{who} may {does} {most:,} {kind} a minute; {does} again in {wait} s.", wait)


@contextmanager
def place_in_queue(queue: str) -> Iterator[None]:
    """Hold a place in a queue while a task is put there.

    Raises QueueFull when `GRASP_QUEUE_LENGTH` searches wait already, and when a new one would wait for more than
    `GRASP_QUEUE_SECONDS` (`expected_wait`). While no worker lives the wait is not limited. Raises ServiceUnavailable
    when Valkey does not answer.
    """
    _check_wait(queue)
    length = settings.GRASP_QUEUE_LENGTH
    if not length:
        yield
        return
    place = gate.reserve(queue, length)
    if place is None:
        raise QueueFull(f"{length:,} searches are waiting already; ask again in {FULL_SECONDS:.0f} s.", FULL_SECONDS)
    try:
        yield
    finally:
        gate.release(queue, place)


def expected_wait(queue: str) -> float:
    """Return the seconds that a new search would wait for a worker; 0 while no worker lives.

    The queue is first in, first out. So it waits about as long as the oldest one there has waited, and, while the queue
    grows, as long as the workers need for all who are before it: their number times the mean seconds of a search,
    divided by the number of workers, each of which answers one at a time. Raises ServiceUnavailable when Valkey does
    not answer.
    """
    length, oldest = gate.queued(queue)
    if not length:
        return 0.0
    workers = workers_of(queue)
    if not workers:
        return 0.0
    return max(oldest, length * _seconds_for_one(workers))


def seconds_for_one(queue: str) -> float:
    """Return the seconds from one search that the workers take from the queue to the next, 0 if none says so."""
    return _seconds_for_one(workers_of(queue))


def _seconds_for_one(workers: Sequence[Mapping[str, Any]]) -> float:
    rates = [1 / one["seconds"] for one in workers if one.get("seconds")]
    # Those that have done nothing lately are believed to be as quick as the others.
    return len(rates) / (len(workers) * sum(rates)) if rates else 0.0


def _check_wait(queue: str) -> None:
    longest = settings.GRASP_QUEUE_SECONDS
    if not longest:
        return
    seconds = expected_wait(queue)
    if seconds > longest:
        wait = float(math.ceil(seconds))
        raise QueueFull(f"A search would wait for {wait:.0f} s; ask again in {wait:.0f} s.", wait)
