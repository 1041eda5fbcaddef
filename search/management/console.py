"""Shows the progress of long work: bars with the time left of the whole on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TextIO

from django.core.management.base import CommandError
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from search.domain.job_kinds import Needs
from search.domain.run_context import RunContext
from search.domain.time_left import Estimate, Estimator
from search.domain.time_range import in_words
from search.domain.work_parts import History
from search.services.jobs.learned import history
from search.services.jobs.needs import shortages
from search.services.jobs.run_context import plain_run

SECONDS_BETWEEN_LINES = 2.0
SECONDS_OF_SILENCE = 30.0
"""Seconds after which a line is written although the work has reported nothing."""
SECONDS_BETWEEN_DRAWINGS = 0.2
ALL = "All"


class LineProgress:
    """Writes a line when a part begins, and then at most one line every `SECONDS_BETWEEN_LINES` seconds.

    `lines` is shared by the thread of the work and the one that breaks the silence.
    """

    def __init__(
        self,
        stream: TextIO,
        parts: Mapping[str, float],
        clock: Callable[[], float] = time.monotonic,
        former: History | None = None,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._estimator = Estimator(parts, clock(), history=former)
        self._part = ""
        self._written = clock()
        self._lines = Lock()

    def __call__(self, part: str, done: int, total: int | None) -> None:
        """Receive the progress, and write the line if it is due."""
        with self._lines:
            now = self._clock()
            self._estimator.report(part, done, total, now)
            if part == self._part and now - self._written < SECONDS_BETWEEN_LINES:
                return
            self._part = part
            self._write(now, "")

    def break_silence(self) -> None:
        """Write how far the work is and how long it has taken, if nothing was written for `SECONDS_OF_SILENCE`."""
        with self._lines:
            now = self._clock()
            if now - self._written >= SECONDS_OF_SILENCE:
                self._write(now, "goes on")

    def _write(self, now: float, what: str) -> None:
        self._written = now
        estimate = self._estimator.estimate(now)
        taken = f" ({what}, {minutes(estimate.seconds)} so far)" if what else ""
        self._stream.write(_line(estimate) + taken + "\n")
        self._stream.flush()


@contextmanager
def _never_silent(lines: LineProgress) -> Iterator[None]:
    """Break the silence of the work inside the block: some parts report nothing for a quarter of an hour."""
    ended = Event()

    def watch() -> None:
        while not ended.wait(SECONDS_OF_SILENCE):
            lines.break_silence()

    watcher = Thread(target=watch, name="lines of progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


class BarProgress:
    """Draws a bar for the whole work with its time left, and below it one for each part that has begun."""

    def __init__(self, bars: Progress, parts: Mapping[str, float], former: History | None = None) -> None:
        self._bars = bars
        self._estimator = Estimator(parts, time.monotonic(), history=former)
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
def shown(
    stream: TextIO, parts: Mapping[str, float] | None = None, *, kind: str = "", quiet: bool = False
) -> Iterator[RunContext]:
    """Yield the context of work that shows its progress on a stream; `quiet` shows nothing.

    `parts` maps the names of the parts, in order, to their sizes; without it only the time left of the present part is
    known. `kind` is the kind of job whose history says how long the parts take.
    """
    former = history(kind) if kind and not quiet else None
    if quiet:
        yield plain_run()
    elif not stream.isatty():
        lines = LineProgress(stream, parts or {}, former=former)
        with _never_silent(lines):
            yield plain_run(lines)
    else:
        columns = (
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
        )  # fmt: skip
        with Progress(*columns, console=Console(file=stream)) as bars:
            drawn = BarProgress(bars, parts or {}, former)
            yield plain_run(drawn)
            drawn.fill()


def refuse_shortage(needs: Needs) -> None:
    """Raise CommandError with the figures if this machine has less disk or memory than the work needs."""
    if short := shortages(needs):
        raise CommandError(" ".join(fault.sentence for fault in short))


def minutes(seconds: float) -> str:
    """Return a time as `m:ss`, or `h:mm:ss` from one hour on."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def _left(estimate: Estimate) -> str:
    return "" if estimate.left is None else f"time left {in_words(estimate.left.low, estimate.left.high)}"


def _line(estimate: Estimate) -> str:
    left = f", {_left(estimate)}" if _left(estimate) else ""
    if not estimate.part:
        return f"Begun{left}"
    if not estimate.total:
        count = f": {estimate.done:,}" if estimate.done else " …"
        return f"{estimate.part}{count}{left}"
    return f"{estimate.part}: {min(100, 100 * estimate.done // estimate.total)} %{left}"
