"""Whether this worker was asked to stop: one byte of memory that its processes share.

It is made when this module is imported, which has to happen before the worker forks its processes.
"""

from __future__ import annotations

import mmap

_asked = mmap.mmap(-1, 1)


def stop() -> None:
    """Ask every process of this worker to hand its job back."""
    _asked[0] = 1


def stopping() -> bool:
    """Return whether this worker was asked to stop."""
    return _asked[0] == 1
