"""The context of long work: its limit, the listeners for its progress, its checkpoints, and its guarded writes.

Every long service (import, indexing, synchronisation, evaluation, tuning, training) takes a `RunContext`. A job hands
in one that writes to the job's row; a test or a script may use the defaults, which do nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from search.domain.errors import SearchCancelled, SearchError
from search.domain.trace import Limit

Progress = Callable[[str, int, int | None], None]
"""Receives `(part, done, total)`; `total` is None while it is unknown. It is called often, so it must be cheap."""
Metric = Callable[[str, int, float], None]
"""Receives `(name, step, value)`: one point of a series."""
Log = Callable[[str], None]
"""Receives one line for people."""
Fenced = Callable[[], AbstractContextManager[None]]
"""Returns a context in which final results are written; see `RunContext.fenced`."""


METRIC_NAME = 80
"""Longest name of a series."""


class RunCancelled(SearchError):
    """The cancellation of this work was requested; nothing except checkpoints has been written."""

    def __init__(self) -> None:
        super().__init__("The job was cancelled.")


FINAL = "final"
"""Name of a note that says that a failure cannot change by trying again: what was imported is wrong, and is kept."""


class LeaseLost(SearchError):
    """This process no longer owns the job: its lease ended, or another process has taken the job over.

    `because` says what became of the job, as a sentence that follows.
    """

    def __init__(self, because: str = "") -> None:
        super().__init__(f"This process no longer owns the job. {because}".strip())


class WorkInterrupted(SearchError):
    """Something outside has ended a part of the work, such as one of its processes; it may go on where it was."""


class Checkpoints(Protocol):
    """A store of intermediate results, so that interrupted work continues from them."""

    def save(self, name: str, content: bytes) -> None:
        """Store content under a name. The former content stays complete until the new content is complete."""
        ...

    def load(self, name: str) -> bytes | None:
        """Return the content stored under a name, or None when there is none."""
        ...


class NoCheckpoints:
    """Checkpoints that store nothing (Checkpoints)."""

    def save(self, name: str, content: bytes) -> None:
        """Do nothing."""

    def load(self, name: str) -> bytes | None:
        """Return None."""
        return None


class Notes(Protocol):
    """Small JSON values that are kept with the job, for results that must not be written twice.

    A value that is put inside `run.fenced()` is committed together with the other writes there, or not at all. So work
    that is repeated after its process died finds out whether its final write had happened.
    """

    def put(self, name: str, value: Any) -> None:
        """Keep a JSON value under a name; it replaces the former one."""
        ...

    def get(self, name: str) -> Any:
        """Return the value kept under a name, or None when there is none."""
        ...


class NotesInMemory:
    """Notes that end with the run (Notes)."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""
        self._values[name] = value

    def get(self, name: str) -> Any:
        """Return a value."""
        return self._values.get(name)


class _NotesOfPart:
    """The notes of a part of the work, kept among those of the whole under names of their own (Notes)."""

    def __init__(self, notes: Notes, part: str) -> None:
        self._notes = notes
        self._part = part

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""
        self._notes.put(f"{self._part}: {name}", value)

    def get(self, name: str) -> Any:
        """Return a value."""
        return self._notes.get(f"{self._part}: {name}")


class _CheckpointsOfPart:
    """The checkpoints of a part of the work, under names of their own (Checkpoints)."""

    def __init__(self, checkpoints: Checkpoints, part: str) -> None:
        self._checkpoints = checkpoints
        self._part = part

    def save(self, name: str, content: bytes) -> None:
        """Store content."""
        self._checkpoints.save(f"{self._part}.{name}", content)

    def load(self, name: str) -> bytes | None:
        """Return content."""
        return self._checkpoints.load(f"{self._part}.{name}")


def _untold(*_: object) -> None:
    """Ignore the report."""


def _anywhere(_: str) -> bool:
    """Return True: a command of this machine writes into every knowledge base."""
    return True


@dataclass(frozen=True, eq=False)
class RunContext:
    """The context of a run: its limit, its listeners, its checkpoints, and its guarded writes.

    `limit` holds the deadline and says whether the run was cancelled. Its check must be fast, because the work calls it
    many times a second. `progress` receives `(part, done, total)`, `metric` receives `(name, step, value)`, `log`
    receives lines for people.

    `with run.fenced():` surrounds every final write (activating a release, attaching a partition, registering an
    artifact, outcome rows, a finished report). In a job it is a database transaction that first locks the job's row and
    raises LeaseLost unless this process still owns the job, so that a process that was delayed past its lease can never
    write. Keep it short: while it is open, nobody else can take the job over. `run.notes.put` inside it tells a later
    attempt that this write has happened.
    """

    limit: Limit = field(default_factory=Limit)
    progress: Progress = _untold
    metric: Metric = _untold
    checkpoints: Checkpoints = field(default_factory=NoCheckpoints)
    log: Log = _untold
    fenced: Fenced = nullcontext
    notes: Notes = field(default_factory=NotesInMemory)
    may_write: Callable[[str], bool] = _anywhere
    """Whether whoever launched the work may write into the knowledge base of a name, as far as it is there now."""

    def check(self) -> None:
        """Raise RunCancelled, DeadlineExceeded, or LeaseLost when the run must stop."""
        try:
            self.limit.check("job")
        except SearchCancelled as error:
            raise RunCancelled() from error

    def report(self, part: str, done: int, total: int | None) -> None:
        """Tell the progress, after `check`: for functions that take a `Progress` and know nothing of stopping."""
        self.check()
        self.progress(part, done, total)

    def part(self, name: str) -> RunContext:
        """Return the context of a part of the work that is long work itself.

        Its notes and checkpoints have names of their own; its metrics and the parts that it reports begin with `name`.
        """
        return replace(
            self,
            progress=lambda part, done, total: self.progress(f"{name}: {part}", done, total),
            metric=lambda series, step, value: self.metric(f"{name}: {series}"[:METRIC_NAME], step, value),
            checkpoints=_CheckpointsOfPart(self.checkpoints, name.replace(" ", "-")),
            notes=_NotesOfPart(self.notes, name),
        )


def silent(part: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


UNOBSERVED = RunContext()
"""The context of work that nobody watches, limits or stops."""
