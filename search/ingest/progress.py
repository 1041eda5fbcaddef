"""Shows the progress of long work: a bar on a terminal, a line every two seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from search.domain.run_context import Progress

__all__ = ["BarProgress", "LineProgress", "Progress", "progress_on", "silent", "time_left"]

SECONDS_BETWEEN_LINES = 2.0


def silent(step: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


def time_left(seconds: float, done: int, total: int) -> str:
    """Return the estimated time left at the speed so far, as `m:ss`, or `?` before anything is done."""
    if done <= 0:
        return "?"
    left = round(seconds * max(0, total - done) / done)
    return f"{left // 60}:{left % 60:02d}"


class LineProgress:
    """Writes a line when a step begins, and then at most one line every `SECONDS_BETWEEN_LINES` seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._step = ""
        self._began = 0.0
        self._written = 0.0

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Write the line if it is due."""
        now = self._clock()
        if step != self._step:
            self._step, self._began = step, now
        elif now - self._written < SECONDS_BETWEEN_LINES:
            return
        self._written = now
        self._stream.write(self._line(now - self._began, done, total) + "\n")
        self._stream.flush()

    def _line(self, seconds: float, done: int, total: int | None) -> str:
        if not total:
            return f"{self._step}: {done:,}" if done else f"{self._step} …"
        share = min(100, 100 * done // total)
        return f"{self._step}: {share} %, time left {time_left(seconds, done, total)}"

    def __enter__(self) -> LineProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None


class BarProgress:
    """Draws one bar for each step on a terminal, with the time spent and the time left."""

    def __init__(self, stream: TextIO) -> None:
        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("time left"),
            TimeRemainingColumn(),
            console=Console(file=stream),
        )
        self._step = ""
        self._task: TaskID | None = None

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Update the bar of this step; if the step is new, complete the bar of the previous step."""
        if step != self._step:
            self._fill()
            self._step, self._task = step, self._bars.add_task(step, total=total)
        if self._task is not None:
            self._bars.update(self._task, completed=done, total=total)

    def _fill(self) -> None:
        if self._task is not None:
            total = self._bars.tasks[-1].total or 1
            self._bars.update(self._task, completed=total, total=total)

    def __enter__(self) -> BarProgress:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self._fill()
        self._bars.stop()


def progress_on(stream: TextIO) -> LineProgress | BarProgress:
    """Return a display that suits the stream: bars on a terminal, lines elsewhere. Use it in a `with` statement."""
    return BarProgress(stream) if stream.isatty() else LineProgress(stream)
