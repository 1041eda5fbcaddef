"""The places of a web process: how many requests use its processor and its database connections at the same time.

Python runs one thread at a time. A hundred requests on a hundred threads all take a hundred times as long, and most of
them wait for a database connection besides. With few places each request is answered quickly once it has one, and the
others wait in order without cost.

Requests of searches that were accepted go before new ones, so that a crowd at the door does not hold up those who are
inside. But a share of the places is the door's, so that a crowd inside does not keep everybody else out. In both lines
the callers take turns: whoever sends a hundred requests waits for their own requests, and not everybody for them.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

MOST_OF_CALLER = 200
"""Requests of one caller that may wait in one line."""


def of_the_door(places: int) -> int:
    """Return how many of the places requests from inside never take: a quarter, and one where there are but three."""
    return max(places // 4, int(places > 2))


class TooManyWaiting(Exception):
    """So many requests of this caller wait already that one more may not."""


class LanePlace(Future[None]):
    """A place of a request; done once the request has it. `new` is for those who are not inside yet."""

    def __init__(self, new: bool, caller: str, came: float) -> None:
        super().__init__()
        self.new = new
        self.caller = caller
        self.came = came


class Lanes:
    """Places that are given to those who wait: first to all who are inside, then to those at the door.

    All methods may be called from any thread.
    """

    def __init__(self, places: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = places
        self._free_inside = places - of_the_door(places)
        self._clock = clock
        self._lock = threading.Lock()
        self._inside, self._door = _Line(), _Line()

    def enter(self, new: bool = False, caller: str = "") -> LanePlace:
        """Return a future that is done when the caller has a place; `new` is for those who are not inside yet.

        Whoever got a place calls `leave`; whoever gives up cancels the future, and calls `leave` if it was too late.
        Raises TooManyWaiting if `MOST_OF_CALLER` requests of the caller wait already.
        """
        place = LanePlace(new, caller, self._clock())
        with self._lock:
            (self._door if new else self._inside).add(place)
        self._admit()
        return place

    def leave(self, place: LanePlace | None = None) -> None:
        """Give the place to the next one who still waits; without a place, it is one from inside."""
        with self._lock:
            self._free += 1
            self._free_inside += place is None or not place.new
        self._admit()

    def waited(self, caller: str | None = None) -> float:
        """Return the seconds for which the first request of a caller at the door has waited; 0 if none does.

        Without a caller, it is how long somebody whose turn it is next has waited for that turn.
        """
        with self._lock:
            return self._door.waited(caller, self._clock())

    @contextmanager
    def lent(self, place: LanePlace | None = None) -> Iterator[None]:
        """Leave the place to others while the thread only waits, and take one again afterwards, as one from inside."""
        self.leave(place)
        try:
            yield
        finally:
            again = LanePlace(False, "", self._clock())
            with self._lock:
                self._inside.add(again, first=True)
            self._admit()
            again.result()
            if place is not None:
                place.new = False

    def _admit(self) -> None:
        """Give free places to those who wait."""
        while (following := self._following()) is not None:
            following.set_result(None)

    def _following(self) -> LanePlace | None:
        """Return the next one who waits and may have a place now, and take the place for it."""
        with self._lock:
            if not self._free:
                return None
            following = self._inside.next(self._clock()) if self._free_inside else None
            if following is not None:
                self._free_inside -= 1
            else:
                following = self._door.next(self._clock())
            self._free -= following is not None
            return following


class _Line:
    """Those who wait, in turn by caller; each caller's own requests in the order in which they came."""

    def __init__(self) -> None:
        self._callers: OrderedDict[str, deque[LanePlace]] = OrderedDict()
        self._first: deque[LanePlace] = deque()
        self._turns: dict[str, float] = {}

    def add(self, place: LanePlace, first: bool = False) -> None:
        """Append a place, or put it before everybody's turn. Raises TooManyWaiting."""
        if first:
            self._first.append(place)
            return
        own = self._callers.setdefault(place.caller, deque())
        if len(own) >= MOST_OF_CALLER:
            alive = [one for one in own if not one.cancelled()]
            if len(alive) >= MOST_OF_CALLER:
                raise TooManyWaiting
            own.clear()
            own.extend(alive)
        own.append(place)
        self._turns.setdefault(place.caller, place.came)

    def next(self, now: float) -> LanePlace | None:
        """Take out the next one who has not given up; its caller's next turn comes after everybody else's."""
        while self._first:
            if (place := self._first.popleft()).set_running_or_notify_cancel():
                return place
        while self._callers:
            caller, own = self._callers.popitem(last=False)
            del self._turns[caller]
            found = next((place for place in _taken(own) if place.set_running_or_notify_cancel()), None)
            if own:
                self._callers[caller], self._turns[caller] = own, now
            if found is not None:
                return found
        return None

    def waited(self, caller: str | None, now: float) -> float:
        """Return how long a caller's first request has waited; without a caller, how long the first turn took."""
        while caller is None and self._callers:
            first = next(iter(self._callers))
            if (came := self._came(first)) is not None:
                return now - max(came, self._turns[first])
        came = self._came(caller) if caller is not None else None
        return 0.0 if came is None else now - came

    def _came(self, caller: str) -> float | None:
        """Return when the first request of a caller that still waits came; forget those who have given up."""
        own = self._callers.get(caller)
        if own is None:
            return None
        while own and own[0].cancelled():
            own.popleft()
        if own:
            return own[0].came
        del self._callers[caller], self._turns[caller]
        return None


def _taken(places: deque[LanePlace]) -> Iterator[LanePlace]:
    """Take out one place after the other."""
    while places:
        yield places.popleft()
