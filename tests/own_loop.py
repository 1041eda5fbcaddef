"""An event loop of a coroutine's own: in a thread, because browser tests leave a running loop in the main one."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(talk: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(asyncio.run, talk).result()
