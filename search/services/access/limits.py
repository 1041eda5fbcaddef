"""limits: the number of searches that a caller may request in a minute, and the number that may wait for the worker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from search.domain.errors import QueueFull, TooManySearches
from search.services.access import gate
from search.services.access.visitors import User, Visitor

MINUTE = 60.0
FULL_SECONDS = 2.0
"""Seconds after which a search that was refused by a full queue may be requested again: the time to empty the queue."""


def count_search(user: User, visitor: Visitor) -> None:
    """Count a search against the limit of its caller: of the token, else the account, else the network address.

    Raises TooManySearches when the limit is reached, and ServiceUnavailable when Valkey does not answer.
    """
    if visitor.token is not None:
        name, most, who = f"token:{visitor.token}", settings.GRASP_SEARCHES_PER_MINUTE_TOKEN, "A token"
    elif user is not None and user.is_authenticated:
        name, most, who = f"user:{user.pk}", settings.GRASP_SEARCHES_PER_MINUTE_USER, "An account"
    else:
        name, most, who = f"address:{visitor.network}", settings.GRASP_SEARCHES_PER_MINUTE, "An address"
    if not most:
        return
    seconds = gate.take(f"searches:{name}", most, MINUTE)
    if seconds:
        wait = math.ceil(seconds)
        raise TooManySearches(f"{who} may ask {most:,} searches a minute; ask again in {wait} s.", wait)


@contextmanager
def place_in_queue(queue: str) -> Iterator[None]:
    """Hold a place in a queue while a task is put there.

    Raises QueueFull when `GRASP_QUEUE_LENGTH` searches wait already, ServiceUnavailable when Valkey does not answer.
    """
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
