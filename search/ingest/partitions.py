"""Partitions of the node and edge tables: created separately, attached when complete, dropped when no longer needed.

A partition is an independent table until it is attached. No search sees rows of an unfinished import.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from django.db import OperationalError, connection, transaction
from psycopg import sql
from psycopg.errors import LockNotAvailable

from search.domain.run_context import UNOBSERVED, RunContext
from search.ingest import vector_engine
from search.ingest.statements import watched
from search.models.partitions import Partitioned, partition

TABLES: tuple[Partitioned, ...] = ("search_node", "search_edge")
LOCK_TIMEOUT = "2s"
"""Longest wait for a table lock in one attempt."""
ATTEMPTS = 30
PAUSE_SECONDS = 1.0

INDEXES = {
    "search_node": (
        "ALTER TABLE {table} ADD PRIMARY KEY (snapshot_id, key)",
        "CREATE UNIQUE INDEX ON {table} (id)",
        # For completion while a person types; `search.services.knowledge.find_nodes` queries this exact expression.
        'CREATE INDEX ON {table} ((lower(left(name, 200)) COLLATE "C"), key)',
    ),
    # Index-only scans answer a hop in either direction, including the node type at its far end.
    "search_edge": (
        "CREATE INDEX ON {table} (source, relation, target) INCLUDE (target_type)",
        "CREATE INDEX ON {table} (target, relation, source) INCLUDE (source_type)",
    ),
}


def create(table: Partitioned, snapshot_id: int) -> None:
    """Create the empty table of a future partition; its CHECK lets Postgres attach it without scanning the rows.

    A table that an interrupted import has created is kept.
    """
    name = partition(table, snapshot_id)
    if name in existing():
        return
    _execute(
        "CREATE TABLE {table} (LIKE {parent} INCLUDING DEFAULTS INCLUDING STORAGE, "
        "CONSTRAINT of_snapshot CHECK (snapshot_id = {value}))",
        table=name, parent=table, value=snapshot_id,
    )  # fmt: skip


def is_loaded(table: Partitioned, snapshot_id: int) -> bool:
    """Return whether a partition is filled and indexed; both happen in one transaction, so an index proves both."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_indexes WHERE schemaname = current_schema() AND tablename = %s)",
            [partition(table, snapshot_id)],
        )
        row = cursor.fetchone()
    return bool(row and row[0])


def index(table: Partitioned, snapshot_id: int, part: str, run: RunContext = UNOBSERVED) -> None:
    """Build the indexes of a loaded partition and update its planner statistics; `part` names this work in `run`."""
    name = partition(table, snapshot_id)
    _execute("SET LOCAL maintenance_work_mem = '256MB'")
    statements = (*INDEXES[table], "ANALYZE {table}")
    for place, statement in enumerate(statements):
        with watched(run, part, place, len(statements)):
            _execute(statement, table=name)


def attach(snapshot_id: int) -> None:
    """Attach both partitions; call it in the transaction that marks the snapshot as ready."""
    for table in TABLES:
        name = partition(table, snapshot_id)
        _execute(
            "ALTER TABLE {parent} ATTACH PARTITION {table} FOR VALUES IN ({value})",
            parent=table, table=name, value=snapshot_id,
        )  # fmt: skip
        _execute("ALTER TABLE {table} DROP CONSTRAINT of_snapshot", table=name)


def drop(names: Sequence[str]) -> None:
    """Drop tables, attached or not, each in its own transaction; names that do not exist are skipped.

    What the vector engine holds of a vector set is dropped with its table.
    """
    for name in names:
        with_locks(partial(_execute, "DROP TABLE IF EXISTS {table}", table=name))
    vector_sets = {int(name.rsplit("_", 1)[1]) for name in names if name.startswith("search_vector_")}
    if vector_sets:
        vector_engine.drop(vector_sets)


def existing() -> list[str]:
    """Return the names of all tables that are partitions or were created to become one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind = 'r' AND n.nspname = current_schema() "
            "AND c.relname ~ '^search_(node|edge|vector)_[0-9]+$' ORDER BY c.relname"
        )
        return [name for (name,) in cursor.fetchall()]


def with_locks(work: Callable[[], None], run: RunContext = UNOBSERVED) -> None:
    """Run `work` in a transaction that waits at most `LOCK_TIMEOUT` for a lock, and retry if it got none.

    A longer wait for an exclusive lock would block every later reader of the table. After `ATTEMPTS` attempts,
    `PAUSE_SECONDS` apart, the error of Postgres is raised. The transaction is a final write of `run`: it raises
    LeaseLost if this process no longer owns the work.
    """
    for attempt in range(1, ATTEMPTS + 1):
        run.check()
        try:
            with run.fenced(), transaction.atomic():
                _execute("SET LOCAL lock_timeout = {value}", value=LOCK_TIMEOUT)
                work()
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable) or attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return


def _execute(statement: str, *, table: str = "", parent: str = "", value: int | str | None = None) -> None:
    composed = sql.SQL(statement).format(
        table=sql.Identifier(table), parent=sql.Identifier(parent), value=sql.Literal(value)
    )
    with connection.cursor() as cursor:
        cursor.execute(composed)
