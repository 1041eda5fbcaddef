"""search_batch: execute the searches of an evaluation, and write the rows of many searches together.

A requested search writes its row three times, so that pages can follow it and a worker can be replaced. An evaluation
asks thousands of questions and nobody follows a single one. Here a search is executed without a row; its row and its
steps are written once, by COPY, together with those of other searches. The rows are the same as those of `run_search`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection
from django.db.models import JSONField
from django.utils import timezone

from search.domain.trace import Step
from search.models import SearchRun, SearchStep
from search.services.observing.events import SearchEvaluated, tell
from search.services.searches.lost_session import lost_session
from search.services.searches.pin import Pin
from search.services.searches.pin_searches import pinned_run
from search.services.searches.record_search import STEP_COLUMNS, Recorder, SqlRow
from search.services.searches.run_search import attempt
from search.services.searches.storable import stored_json

_RUN_FIELDS = SearchRun._meta.concrete_fields
_RUN_COLUMNS = tuple(str(field.column) for field in _RUN_FIELDS)


@dataclass(frozen=True)
class FinishedSearch:
    """A search that has no row yet: the run with its answer or error, and its steps."""

    run: SearchRun
    recorder: Recorder

    @property
    def steps(self) -> Sequence[Step]:
        """The recorded steps, in their order."""
        return self.recorder.steps

    def unstored_steps(self, without: Collection[str]) -> list[SearchStep]:
        """Return the steps as they will be read from their rows, except those of the roles `without`."""
        return self.recorder.unstored(without)

    def stored(self) -> StoredSearch:
        """Return the rows of the search. They hold plain values, so that they can be sent to another process."""
        places = range(len(self.recorder.steps))
        return StoredSearch(tuple(_column_values(self.run)), tuple(self.recorder.rows(places)))


@dataclass(frozen=True)
class StoredSearch:
    """The row of a search and the rows of its steps, ready for COPY."""

    run: SqlRow
    steps: tuple[SqlRow, ...]


def search_unstored(pin: Pin, *, question: str, k: int, purpose: str, cancelled: Callable[[], bool]) -> FinishedSearch:
    """Execute a search of an evaluation and return it, done, failed or cancelled; nothing is written.

    `cancelled` is called often and must be fast. Raises SearchRejected if the question cannot be searched; StageError,
    caused by the database's error, if the session with Postgres was lost: that says nothing about the question.
    """
    run = pinned_run(pin, question=question, k=k, purpose=purpose)
    run.created = run.started = timezone.now()
    run.status, run.changes = SearchRun.Status.RUNNING, 1
    recorder = Recorder(run, live=False)
    failure = attempt(run, recorder, cancelled)
    if failure is not None and lost_session(failure):
        raise failure
    run.seconds = time.perf_counter() - recorder.began
    run.finished = timezone.now()
    tell(SearchEvaluated(run.pipeline, run.status))
    return FinishedSearch(run, recorder)


def store_searches(searches: Iterable[StoredSearch]) -> None:
    """Write the rows of finished searches. The caller opens the transaction."""
    found = list(searches)
    copy_rows(SearchRun._meta.db_table, _RUN_COLUMNS, (one.run for one in found))
    copy_rows(SearchStep._meta.db_table, STEP_COLUMNS, (step for one in found for step in one.steps))


def copy_rows(table: str, columns: Sequence[str], rows: Iterable[SqlRow]) -> None:
    """Write rows by COPY into a table. Values of JSON columns are JSON texts. The caller opens the transaction."""
    names = psycopg.sql.SQL(", ").join(map(psycopg.sql.Identifier, columns))
    statement = psycopg.sql.SQL("COPY {} ({}) FROM STDIN").format(psycopg.sql.Identifier(table), names)
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _column_values(run: SearchRun) -> Iterator[Any]:
    """Yield the values of a run in the order of the columns; JSON values as text."""
    for field in _RUN_FIELDS:
        value = getattr(run, field.attname)
        yield stored_json(value) if isinstance(field, JSONField) and value is not None else value
