"""record_search: write the steps of a running search and close its row, also after Postgres restarted."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from typing import Any

import orjson
import psycopg
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from search.domain.trace import VERSION, Step
from search.interfaces import NodeStore
from search.models import SearchRun, SearchStep
from search.services.searches.describe_search import describe
from search.services.searches.storable import storable_text, stored_json
from search.services.searches.watch_search import notices

STEP_DELAY = 0.1
"""Longest time in seconds between the end of a step and its writing in a live search. The delay is too
short to notice. Most searches end within it, which saves one statement, one commit and one notice for each step."""
LIVE_SECONDS = 1.0
"""Time limit in seconds of a statement while the search runs; rows that are locked are written at its end."""
END_SECONDS = 15.0
"""Longest time in seconds for writing the end of a search, when Postgres is away."""
RETRY_SECONDS = 0.25
"""Seconds between two attempts to write the end of a search."""

_TYPES = {
    "position": "int", "name": "text", "role": "text", "version": "int", "backend": "text", "status": "text",
    "seconds": "float8", "detail": "text", "output": "jsonb", "prompt_fingerprint": "text", "tokens": "jsonb",
}  # fmt: skip
"""Columns of a step behind its run, with their types."""
STEP_COLUMNS = ("run_id", *_TYPES)
_STEPS = (
    f"INSERT INTO search_searchstep ({', '.join(STEP_COLUMNS)}) SELECT %s, step.* "
    f"FROM jsonb_to_recordset(%s::jsonb) AS step({', '.join(f'{name} {kind}' for name, kind in _TYPES.items())}) "
    "ON CONFLICT (run_id, position) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _TYPES if name != "position")
)
_TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"
_CHANGED = "UPDATE search_searchrun SET changes = changes + 1 WHERE id = %s"
_CLOSED = (
    "UPDATE search_searchrun SET changes = changes + 1, status = %s, answer = %s::jsonb, error = %s::jsonb, "
    "seconds = %s, finished = %s WHERE id = %s AND status = 'running' RETURNING changes"
)
_KEYS = re.compile(r'"keys":\[([0-9,]*)\]')
"""A list of keys in written JSON. Inside of a text its quotation marks would stand behind backslashes."""
SqlRow = tuple[Any, ...]
SqlStatement = tuple[str, SqlRow]


class Recorder:
    """Turns steps into rows. Rows hold ids instead of keys, because a key has no meaning after its snapshot is deleted.

    The thread that searches hands the steps over; another thread writes them while the search runs.
    """

    def __init__(self, run: SearchRun, live: bool, awaited: bool = False) -> None:
        self.run, self.live, self.awaited = run, live, awaited
        self.nodes: NodeStore | None = None
        self.began = time.perf_counter()
        self._steps: list[Step] = []
        self._outputs: list[str | None] = []
        self.ended: list[int] = []
        """The time at which each step ended, in nanoseconds since 1970."""
        self._unwritten: set[int] = set()
        self._lock = threading.Lock()

    def observe(self, step: Step) -> None:
        """Record a finished step, or record a known step again after its status changed."""
        with self._lock:
            known = next((at for at, one in enumerate(self._steps) if one is step), None)
            if known is None:
                known = len(self._steps)
                self._steps.append(step)
                self.ended.append(time.time_ns())
                self._outputs.append(None if step.output is None else self._output(step))
            self._unwritten.add(known)
        if self.live:
            _writer.soon(self)

    def write_now(self) -> None:
        """Write the unwritten steps while the search runs. If that fails, they are written at the end."""
        with self._lock:
            if not self.live or not self._unwritten:
                return
            try:
                write([*self._steps_at(sorted(self._unwritten)), (_CHANGED, (self.run.pk,))], LIVE_SECONDS)
                self._unwritten.clear()
            except DatabaseError:
                self.live = False
                return
        notices().tell(str(self.run.pk))

    def close(self, closing: SqlRow, *, every: bool) -> int | None:
        """Write the end of the run with its unwritten steps, or with all steps if `every`.

        Return the row's number of changes, or None if the row was already closed; it then stays unchanged.
        """
        with self._lock:
            places = range(len(self._steps)) if every else sorted(self._unwritten)
            closed = write([*self._steps_at(places), (_CLOSED, closing)], END_SECONDS)
            self._unwritten.clear()
        return closed[0] if closed else None

    def stop(self) -> None:
        """Stop writing while the search runs; return when a write in progress has finished."""
        self.live = False
        with self._lock:
            _writer.drop(self)

    @property
    def steps(self) -> Sequence[Step]:
        """The recorded steps, in their order."""
        return self._steps

    def rows(self, places: Sequence[int]) -> list[SqlRow]:
        """Return the rows of the steps at these places; their columns are `STEP_COLUMNS`."""
        return [
            (
                self.run.pk, at, step.name, step.role, VERSION, step.backend, step.status, step.seconds,
                storable_text(step.detail), self._outputs[at], step.prompt_fingerprint,
                orjson.dumps(step.tokens).decode(),
            )
            for at in places
            for step in [self._steps[at]]
        ]  # fmt: skip

    def _steps_at(self, places: Sequence[int]) -> list[SqlStatement]:
        """Return the statement that writes the steps at these places, none without places."""
        if not places:
            return []
        rows = [dict(zip(_TYPES, values, strict=True)) for _, *values in self.rows(places)]
        for row in rows:
            row |= {name: orjson.Fragment(row[name]) for name in ("output", "tokens") if row[name] is not None}
        return [(_STEPS, (self.run.pk, orjson.dumps(rows).decode()))]

    def answer(self) -> bytes:
        """Return the ended search as JSON, as `describe_search` describes its rows; empty if nobody awaits it."""
        if not self.awaited:
            return b""
        return orjson.dumps(describe(self.run, self.unstored()))

    def unstored(self, without: Collection[str] = ()) -> list[SearchStep]:
        """Return the steps as they will be read from their rows, except those of the roles `without`."""
        return [
            SearchStep(
                run_id=self.run.pk, position=at, name=step.name, role=step.role, version=VERSION, backend=step.backend,
                status=step.status, seconds=step.seconds, detail=storable_text(step.detail),
                output=None if output is None else orjson.loads(output),
                prompt_fingerprint=step.prompt_fingerprint, tokens=step.tokens,
            )
            for at, (step, output) in enumerate(zip(self._steps, self._outputs, strict=True))
            if step.role not in without
        ]  # fmt: skip

    def _output(self, step: Step) -> str:
        return written(step.output, self.nodes)


class _Writer:
    """Thread that writes the steps of all live searches of a process, `STEP_DELAY` seconds after they finish."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._due: dict[Recorder, float] = {}
        self._changed = threading.Condition()

    def soon(self, recorder: Recorder) -> None:
        """Have a recorder write after `STEP_DELAY` seconds, unless it is closed before."""
        with self._changed:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="live-steps", daemon=True)
                self._thread.start()
            if recorder not in self._due:
                self._due[recorder] = time.monotonic() + STEP_DELAY
                self._changed.notify()

    def drop(self, recorder: Recorder) -> None:
        """Remove a recorder from the waiting ones, because its search ends."""
        with self._changed:
            self._due.pop(recorder, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due:
                    self._changed.wait()
                recorder, due = min(self._due.items(), key=lambda item: item[1])
                left = due - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                del self._due[recorder]
            try:
                recorder.write_now()
            finally:
                connection.close()


_writer = _Writer()


def write(statements: Sequence[SqlStatement], seconds: float) -> SqlRow | None:
    """Run statements in one transaction and one round trip; `seconds` is the time limit of each statement.

    Return the row that the last statement returns, None if it returns no row. Parameters are bound on the server, so
    long texts are not escaped and parsed. What is sent in one pipeline is one transaction, without a statement that
    begins or ends it. Raises Django's database errors.
    """
    inside = transaction.atomic() if connection.in_atomic_block else nullcontext()
    with inside, connection.wrap_database_errors:
        connection.ensure_connection()
        raw = connection.connection
        with raw.pipeline():
            psycopg.Cursor(raw).execute(_TIMEOUT, [str(int(1000 * seconds))], prepare=None)
            last = psycopg.Cursor(raw)
            for statement, row in statements:
                last = psycopg.Cursor(raw)
                last.execute(statement, row, prepare=None)
        return last.fetchone() if last.description else None


def close_run(run: SearchRun, recorder: Recorder) -> None:
    """Write the end of a run: its steps, status, answer and error. A row that was already closed stays unchanged,
    and `run` is read again from it.

    Postgres may be restarting, so this tries again for `END_SECONDS` seconds, each time over a new connection. Raises
    Django's OperationalError or InterfaceError if Postgres does not come back.
    """
    live, answer = recorder.live, b""
    recorder.stop()
    run.finished = timezone.now()
    closing = (run.status, _json(run.answer), _json(run.error), run.seconds, run.finished, run.pk)
    patience, again = time.monotonic() + END_SECONDS, False
    while True:
        try:
            changes = recorder.close(closing, every=again)
            if changes is None:
                run.refresh_from_db()
            else:
                run.changes = changes
                answer = recorder.answer()
            break
        except (OperationalError, InterfaceError):
            connection.close()
            if time.monotonic() > patience:
                raise
            again = True
            time.sleep(RETRY_SECONDS)
    if live:
        notices().tell(str(run.pk), answer)


def _json(value: Any) -> str | None:
    return None if value is None else stored_json(value)


def written(output: Any, nodes: NodeStore | None) -> str:
    """Return a step's output as JSON text, with every list of keys replaced by a list of ids."""
    text = stored_json(output)
    if nodes is None:
        return text

    def ids(keys: re.Match[str]) -> str:
        held = [int(key) for key in keys[1].split(",")] if keys[1] else []
        return f'"ids":{orjson.dumps(nodes.ids(held)).decode()}'

    return _KEYS.sub(ids, text)
