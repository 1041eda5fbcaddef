"""What a request leaves to whoever runs it: its place while it only waits, and the counting of refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

LENT: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar("LENT", default=None)
"""What the web process sets: a context in which the place of the request belongs to others (`grasp_site.lanes`)."""
GATHERED: ContextVar[Callable[[str, str], None] | None] = ContextVar("GATHERED", default=None)
"""What the web process sets: counts a request that was refused, by door and kind, and writes the sum later.

A crowd is refused many times a second. A row for each refusal would take longer than the refusal, and all would wait
for the same row.
"""


@contextmanager
def at_rest() -> Iterator[None]:
    """Wait inside the block, and do nothing else there that needs the processor or the database."""
    lent = LENT.get()
    if lent is None:
        yield
        return
    with lent():
        yield
