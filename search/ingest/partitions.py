"""Partitions of the node and edge tables: made apart, attached when they are whole, dropped when nobody needs them.

A partition is a table of its own until it is attached, so whatever happens to an import, no search sees a row of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from django.db import OperationalError, connection, transaction
from psycopg import sql
from psycopg.errors import LockNotAvailable

from search.models.partitions import Partitioned, partition

TABLES: tuple[Partitioned, ...] = ("search_node", "search_edge")
LOCK_TIMEOUT = "2s"
ATTEMPTS = 30
PAUSE_SECONDS = 1.0

INDEXES = {
    "search_node": (
        "ALTER TABLE {table} ADD PRIMARY KEY (snapshot_id, key)",
        "CREATE UNIQUE INDEX ON {table} (id)",
        # What a box completes while somebody types; `search.services.knowledge.find_nodes` asks in these very words.
        'CREATE INDEX ON {table} ((lower(left(name, 200)) COLLATE "C"), key)',
    ),
    # A hop in either direction is answered from an index alone, the type of the far end included.
    "search_edge": (
        "CREATE INDEX ON {table} (source, relation, target) INCLUDE (target_type)",
        "CREATE INDEX ON {table} (target, relation, source) INCLUDE (source_type)",
    ),
}


def create(table: Partitioned, snapshot_id: int) -> None:
    """Make the empty table that is going to be the partition; the CHECK saves the scan when it is attached."""
    name = partition(table, snapshot_id)
    _execute("CREATE TABLE {table} (LIKE {parent} INCLUDING DEFAULTS INCLUDING STORAGE)", table=name, parent=table)
    _execute(
        "ALTER TABLE {table} ADD CONSTRAINT of_snapshot CHECK (snapshot_id = {value})", table=name, value=snapshot_id
    )


def index(table: Partitioned, snapshot_id: int) -> None:
    """Build the indexes of a loaded partition, and the planner's statistics."""
    name = partition(table, snapshot_id)
    _execute("SET LOCAL maintenance_work_mem = '256MB'")
    for statement in INDEXES[table]:
        _execute(statement, table=name)
    _execute("ANALYZE {table}", table=name)


def attach(snapshot_id: int) -> None:
    """Attach both partitions; to be called within the transaction that says that the snapshot is ready."""
    for table in TABLES:
        name = partition(table, snapshot_id)
        _execute(
            "ALTER TABLE {parent} ATTACH PARTITION {table} FOR VALUES IN ({value})",
            parent=table, table=name, value=snapshot_id,
        )  # fmt: skip
        _execute("ALTER TABLE {table} DROP CONSTRAINT of_snapshot", table=name)


def drop(names: Sequence[str]) -> None:
    """Drop tables, attached or not, each in a transaction of its own; those that are not there are passed over."""
    for name in names:
        with_locks(partial(_execute, "DROP TABLE IF EXISTS {table}", table=name))


def existing() -> list[str]:
    """Return the tables that are partitions, or were going to be."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind = 'r' AND n.nspname = current_schema() "
            "AND c.relname ~ '^search_(node|edge|vector)_[0-9]+$' ORDER BY c.relname"
        )
        return [name for (name,) in cursor.fetchall()]


def with_locks(work: Callable[[], None]) -> None:
    """Run `work` in a transaction that waits 2 s at most for a lock, and again when it did not get one.

    Whoever waits longer for a lock on a table makes every later reader wait behind it. Gives up after half a minute's
    pauses and raises what Postgres said.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic():
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
