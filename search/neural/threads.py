"""The number of threads that torch uses for one computation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def threads(wanted: int) -> Iterator[None]:
    """Let torch use this number of threads inside the `with` block."""
    before = torch.get_num_threads()
    if before == wanted:
        yield
        return
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)
