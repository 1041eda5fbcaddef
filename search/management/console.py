"""Shows the progress of long work: bars with the time left of the whole on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from search.domain.run_context import RunContext
from search.domain.time_left import Estimate, Estimator
from search.services.jobs.run_context import plain_run

SECONDS_BETWEEN_LINES = 2.0
SECONDS_BETWEEN_DRAWINGS = 0.2
ALL = "All"


class LineProgress:
    """Writes a line when a part begins, and then at most one line every `SECONDS_BETWEEN_LINES` seconds."""

    def __init__(self, stream: TextIO, parts: Mapping[str, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._estimator = Estimator(parts, clock())
        self._part = ""
        self._written = 0.0

    def __call__(self, part: str, done: int, total: int | None) -> None:
        """Receive the progress, and write the line if it is due."""
        now = self._clock()
        self._estimator.report(part, done, total, now)
        if part == self._part and now - self._written < SECONDS_BETWEEN_LINES:
            return
        self._part, self._written = part, now
        self._stream.write(_line(self._estimator.estimate(now)) + "\n")
        self._stream.flush()


class BarProgress:
    """Draws a bar for the whole work with its time left, and below it one for each part that has begun."""

    def __init__(self, bars: Progress, parts: Mapping[str, float]) -> None:
        self._bars = bars
        self._estimator = Estimator(parts, time.monotonic())
        self._tasks: dict[str, TaskID] = {}
        self._whole = bars.add_task(ALL, total=1.0, left="") if parts else None
        self._part = ""
        self._drawn = 0.0

    def __call__(self, part: str, done: int, total: int | None) -> None:
        """Receive the progress, and update the bars."""
        now = time.monotonic()
        self._estimator.report(part, done, total, now)
        if part == self._part and now - self._drawn < SECONDS_BETWEEN_DRAWINGS and done != total:
            return
        if part != self._part:
            self._fill()
            self._part = part
        if part not in self._tasks:
            self._tasks[part] = self._bars.add_task(part, total=total, left="")
        self._drawn = now
        self._draw(self._estimator.estimate(now))

    def fill(self) -> None:
        """Fill every bar, when the work is done."""
        self._fill()
        if self._whole is not None:
            self._bars.update(self._whole, completed=1.0, total=1.0, left="")

    def _draw(self, estimate: Estimate) -> None:
        left, task = _left(estimate), self._tasks[self._part]
        self._bars.update(task, completed=estimate.done, total=estimate.total)
        if self._whole is None:
            self._bars.update(task, left=left)
        else:
            self._bars.update(self._whole, completed=estimate.share, left=left)

    def _fill(self) -> None:
        if self._part:
            task = self._tasks[self._part]
            self._bars.update(task, completed=1, total=1, left="")
            self._bars.stop_task(task)


@contextmanager
def shown(stream: TextIO, parts: Mapping[str, float] | None = None, *, quiet: bool = False) -> Iterator[RunContext]:
    """Yield the context of work that shows its progress on a stream; `quiet` shows nothing.

    `parts` maps the names of the parts, in order, to their expected seconds; without it only the time left of the
    present part is known.
    """
    if quiet:
        yield plain_run()
    elif not stream.isatty():
        yield plain_run(LineProgress(stream, parts or {}))
    else:
        columns = (
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
        )  # fmt: skip
        with Progress(*columns, console=Console(file=stream)) as bars:
            drawn = BarProgress(bars, parts or {})
            yield plain_run(drawn)
            drawn.fill()


def minutes(seconds: float) -> str:
    """Return a time as `m:ss`, or `h:mm:ss` from one hour on."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def _left(estimate: Estimate) -> str:
    return "" if estimate.seconds_left is None else f"time left {minutes(estimate.seconds_left)}"


def _line(estimate: Estimate) -> str:
    left = f", {_left(estimate)}" if _left(estimate) else ""
    if not estimate.total:
        count = f": {estimate.done:,}" if estimate.done else " …"
        return f"{estimate.part}{count}{left}"
    return f"{estimate.part}: {min(100, 100 * estimate.done // estimate.total)} %{left}"
