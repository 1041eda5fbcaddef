"""processes: ask questions in this process, or in several that each load the models, and return the outcomes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol, cast

from django.conf import settings

from search.domain.errors import SearchError, StageError
from search.domain.run_context import RunContext, WorkInterrupted
from search.services.searches.pin import Pin
from training.services.evaluations.ask import Answerer, EvaluationAsked, EvaluationTask, Unbuilt
from training.services.evaluations.serve import ANSWERER, serve

WORTH = 150
"""Fewest tasks for a second process: it takes several seconds to start and to load its models."""
MEMORY = 1_500_000
"""Memory in kB that must be available for each process: torch, a model, and the caches of a search."""
A_MESSAGE = 4
"""Tasks that a process gets at a time; it works for a fraction of a second on them."""
CHECK_SECONDS = 0.2
"""Longest time between two checks whether the run was cancelled."""
END_SECONDS = 2.0
_MEMORY_INFO = Path("/proc/meminfo")


class ProcessEnded(WorkInterrupted):
    """A process of the evaluation ended without an answer; what was stored stays, and the evaluation can go on."""


class ProcessBroken(SearchError):
    """A process of the evaluation raised an error that nobody foresaw; the text holds its traceback."""


class Askers(Protocol):
    """Something that asks the questions of one evaluation."""

    @property
    def at_once(self) -> int:
        """The number of questions that are asked at the same time."""
        ...

    @property
    def unbuilt(self) -> Unbuilt:
        """The pipelines whose stages could not be built; nothing can be asked of them."""
        ...

    def ask(
        self, tasks: Sequence[EvaluationTask], run: RunContext, *, alone: bool = False
    ) -> Iterator[EvaluationAsked]:
        """Yield the outcome of each task, in any order; with `alone` one is asked at a time.

        Raises the exceptions of `run.check()`.
        """
        ...


def processes_for(tasks: int, wanted: int = 0) -> int:
    """Return how many processes ask so many tasks; 1 means this process.

    `wanted` is the number that the caller chose; 0 means one for each processor, as far as tasks and memory allow.
    """
    if wanted:
        return wanted
    if tasks < WORTH:
        return 1
    return max(1, min(len(os.sched_getaffinity(0)), _available_memory() // MEMORY))


@contextmanager
def askers(pins: Sequence[Pin], processes: int, run: RunContext) -> Iterator[Askers]:
    """Build the stages of every pipeline, and yield something that asks; its processes end with the block."""
    if processes <= 1:
        here = EvaluateHere(pins)
        here.compose()
        yield here
        return
    started = Started(processes)
    try:
        started.compose(pins, run)
        yield started
    finally:
        started.end()


class EvaluateHere:
    """Asks in this process (Askers)."""

    at_once = 1

    def __init__(self, pins: Sequence[Pin]) -> None:
        self._answerer = Answerer(pins)
        self.unbuilt: Unbuilt = {}

    def compose(self) -> None:
        """Build the stages of every pipeline."""
        self.unbuilt = self._answerer.compose()

    def ask(
        self, tasks: Sequence[EvaluationTask], run: RunContext, *, alone: bool = False
    ) -> Iterator[EvaluationAsked]:
        """Yield the outcomes in the order of the tasks."""
        for task in tasks:
            run.check()
            asked = self._answerer.ask(task, run.limit.cancelled)
            # A search that was cancelled has no outcome.
            run.check()
            yield asked


class Started:
    """Asks in other processes, which are started here (Askers). `answerer` is the dotted path of what they run."""

    def __init__(self, processes: int, answerer: str = ANSWERER) -> None:
        context = multiprocessing.get_context("spawn")
        database = {"NAME": settings.DATABASES["default"]["NAME"]}
        threads = max(1, len(os.sched_getaffinity(0)) // processes)
        self.at_once = processes
        self.unbuilt: Unbuilt = {}
        self._processes: list[BaseProcess] = []
        self._channels: list[Connection] = []
        for _ in range(processes):
            mine, others = context.Pipe()
            process = context.Process(target=serve, args=(others, database, answerer, threads), daemon=True)
            process.start()
            others.close()
            self._processes.append(process)
            self._channels.append(mine)

    def compose(self, pins: Sequence[object], run: RunContext) -> None:
        """Send the pins, or what else the answerer is built of, and wait until every process has built its stages."""
        for channel in self._channels:
            _send(channel, list(pins))
        waiting = set(self._channels)
        while waiting:
            for channel in self._ready(waiting, run):
                self.unbuilt |= cast(Unbuilt, _received(channel))
                waiting.discard(channel)

    def ask(self, tasks: Sequence[Any], run: RunContext, *, alone: bool = False) -> Iterator[Any]:
        """Yield the answers as they come."""
        left = iter([tasks[first : first + A_MESSAGE] for first in range(0, len(tasks), A_MESSAGE)])
        busy: set[Connection] = set()
        free = self._channels[:1] if alone else list(self._channels)
        while True:
            for channel in free:
                if some := next(left, None):
                    _send(channel, list(some))
                    busy.add(channel)
            if not busy:
                return
            free = self._ready(busy, run)
            for channel in free:
                busy.discard(channel)
                yield from cast(list[Any], _received(channel))

    def end(self) -> None:
        """End the processes, also in the middle of a search."""
        for channel in self._channels:
            channel.close()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(END_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()

    @staticmethod
    def _ready(channels: set[Connection], run: RunContext) -> list[Connection]:
        """Wait until at least one channel has a message, and return those that have."""
        while True:
            run.check()
            if found := cast(list[Connection], wait(list(channels), timeout=CHECK_SECONDS)):
                return found


def _send(channel: Connection, message: object) -> None:
    """Send a message. If the process has ended, this says nothing: its last reply or its end is received next."""
    with suppress(BrokenPipeError, ConnectionResetError):
        channel.send(message)


def _received(channel: Connection) -> object:
    """Return the content of a message: outcomes, or the pipelines that could not be built.

    Raises StageError, ProcessEnded or ProcessBroken for a reply that says so.
    """
    try:
        kind, *content = channel.recv()
    except (EOFError, ConnectionResetError) as error:
        message = "A process that asked questions was ended from outside, perhaps because memory was short."
        raise ProcessEnded(f"{message} What was answered is kept; resume the evaluation.") from error
    if kind == "unavailable":
        raise StageError(content[0], content[1], permanent=content[2])
    if kind == "lost":
        raise ProcessEnded(f"A process that asked questions lost Postgres: {content[0]}")
    if kind == "broken":
        raise ProcessBroken(f"A process that asked questions broke:\n{content[0]}")
    return content[0]


def _available_memory() -> int:
    """Return the available memory in kB; a large number when the system does not tell."""
    try:
        lines = _MEMORY_INFO.read_text().splitlines()
    except OSError:
        return 1 << 40
    return next((int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), 1 << 40)
