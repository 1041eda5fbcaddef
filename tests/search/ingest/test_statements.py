"""Long statements: stopped in the middle, and their progress told meanwhile."""

import time

import pytest
from django.db import OperationalError, connection

from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.ingest.statements import share_of_index, watched

LATE = 5.0
"""Seconds after which a statement was not stopped but has ended, on a machine that does something else too."""


@pytest.mark.django_db(transaction=True)
def test_a_statement_is_stopped_soon_after_the_request() -> None:
    asked = time.monotonic() + 0.5
    run = RunContext(limit=Limit(cancelled=lambda: time.monotonic() > asked))
    with pytest.raises(RunCancelled), watched(run, "Sleeping"), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(30)")
    assert time.monotonic() - asked < LATE
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@pytest.mark.django_db(transaction=True)
def test_errors_of_the_statement_pass() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 100")
        try:
            with pytest.raises(OperationalError, match="timeout"), watched(RunContext(), "Sleeping"):
                cursor.execute("SELECT pg_sleep(30)")
        finally:
            cursor.execute("RESET statement_timeout")


@pytest.mark.django_db(transaction=True)
def test_the_progress_of_an_index_is_told_while_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.ingest.statements.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("search.ingest.statements.UNREPORTED_SECONDS", 0.0)
    told: list[tuple[str, int, int | None]] = []
    run = RunContext(progress=lambda *report: told.append(report))
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE slow (value text)")
        try:
            cursor.execute("INSERT INTO slow SELECT md5(i::text) FROM generate_series(1, 300000) i")
            with watched(run, "Indexing", 1, 2):
                cursor.execute("CREATE INDEX ON slow (value)")
        finally:
            cursor.execute("DROP TABLE slow")
    assert told[0] == ("Indexing", 1_000, 2_000)
    assert told[-1] == ("Indexing", 2_000, 2_000)
    counts = [done for _, done, _ in told]
    assert len(counts) > 3
    assert counts == sorted(counts)


@pytest.mark.parametrize(
    ("row", "share"),
    [
        (("building index: scanning table", 50, 100, 0, 0), 1 / 6),
        (("building index: sorting live tuples", 100, 100, 0, 0), 1 / 3),
        (("building index: loading tuples in tree", 100, 100, 30, 60), 2 / 3 + 1 / 6),
        (("building index: loading tuples in tree", 0, 0, 0, 0), 2 / 3),
        (("initializing", 0, 0, 0, 0), 0.0),
        # Half the blocks of an HNSW index take 0.5 ** 1.3 of the time.
        (("building index: loading tuples", 50, 100, 700, 0), 0.40613),
    ],
)
def test_the_share_of_an_index(row: tuple[str, int, int, int, int], share: float) -> None:
    assert share_of_index(*row) == pytest.approx(share, abs=1e-4)
