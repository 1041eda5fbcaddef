"""Models that stay in memory: those used last. What has to go goes before the next one is loaded."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """The values used last, at most `most` of them. Threads may share it; one value is loaded at a time."""

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()
        self._loading = Lock()

    def get(self, key: K, load: Callable[[Callable[[], None]], V]) -> V:
        """Return the value of a key, loaded by `load` if it is not kept. Raises what `load` raises.

        `load` calls the function that it is given when it has checked whatever may be wrong, and before it takes
        memory: the values used longest ago are then dropped, so that there are never more than `most` in memory. What
        is dropped can still be used by whoever holds it.
        """
        if (found := self._found(key)) is not None:
            return found
        with self._loading:
            # Another thread may have loaded it in the meantime.
            if (found := self._found(key)) is not None:
                return found
            made = load(self._make_room)
            self._make_room()
            with self._lock:
                self._values[key] = made
            return made

    def clear(self) -> None:
        """Drop every value."""
        with self._lock:
            self._values.clear()

    def _found(self, key: K) -> V | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def _make_room(self) -> None:
        dropped = []
        with self._lock:
            while self._values and len(self._values) >= max(1, self._most()):
                dropped.append(self._values.popitem(last=False))
        if dropped:
            # The modules of a model refer to each other in circles, which only the collector takes apart.
            dropped.clear()
            gc.collect()
