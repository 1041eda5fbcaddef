"""A thread that only waits says so, and whoever runs it can let others work meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

LENT: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar("LENT", default=None)
"""What the web process sets: a context in which the place of the request belongs to others (`grasp_site.lanes`)."""


@contextmanager
def at_rest() -> Iterator[None]:
    """Wait inside the block, and do nothing else there that needs the processor or the database."""
    lent = LENT.get()
    if lent is None:
        yield
        return
    with lent():
        yield
