"""The tables of the site as one transaction sees them: which there are, and their rows in COPY's formats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from search.models.partitions import PARTITIONED

_TABLES = """
SELECT c.relname, coalesce(p.relname, ''), pg_table_size(c.oid), c.oid, c.relfilenode,
       array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
             AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
WHERE n.nspname = current_schema() AND c.relkind = 'r' ORDER BY c.relname COLLATE "C"
"""
_SEQUENCES = """
SELECT t.relname, a.attname, s.relname
FROM pg_class s JOIN pg_namespace n ON n.oid = s.relnamespace
JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
    AND d.deptype IN ('a', 'i')
JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE n.nspname = current_schema() AND s.relkind = 'S' ORDER BY t.relname, a.attname
"""

Piece = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class BackupTable:
    """One table: its columns, its bytes on the disk, and for a partition its parent (else empty).

    `identity` is the same as long as a partition holds the same rows; other tables have none.
    """

    name: str
    parent: str
    columns: tuple[str, ...]
    bytes: int
    identity: str = ""

    @property
    def member(self) -> str:
        """The name of its member in the archive."""
        return f"{'partitions' if self.parent else 'tables'}/{self.name}"

    @property
    def format(self) -> str:
        """The format of COPY: binary for what is large and has few types, text for the others."""
        return "binary" if self.parent else "text"


@contextmanager
def frozen() -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection in a transaction that sees the database as it is at its first query, whatever is written."""
    parameters = connection.get_connection_params()
    parameters.pop("pool", None)
    with psycopg.connect(**parameters) as session:
        session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        session.read_only = True
        session.execute("SET statement_timeout = 0")
        session.execute("SET idle_in_transaction_session_timeout = 0")
        yield session


def all_tables(session: psycopg.Connection[Any]) -> list[BackupTable]:
    """Return the site's tables, and lock each against being dropped: ordinary ones first, then attached partitions.

    Raises psycopg.errors.UndefinedTable if one is dropped at the same moment.
    """
    own = _own()
    found = []
    for name, parent, bytes_, oid, node, columns in session.execute(_TABLES).fetchall():
        if not _goes_in(name, parent, own):
            continue
        session.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(sql.Identifier(name)))
        identity = f"{oid}-{node}-{_content(session, name)}" if parent else ""
        found.append(BackupTable(name, parent, tuple(columns), bytes_, identity))
    return sorted(found, key=lambda table: (bool(table.parent), table.name))


def table_bytes() -> int:
    """Return the bytes of all these tables on the disk; no row is read and nothing is locked."""
    own = _own()
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        return sum(bytes_ for name, parent, bytes_, *_ in cursor.fetchall() if _goes_in(name, parent, own))


def _own() -> set[str]:
    """Return the names of the ordinary tables; that of the applied migrations goes into the manifest."""
    return {*connection.introspection.django_table_names()} - {MigrationRecorder.Migration._meta.db_table}


def _goes_in(name: str, parent: str, own: set[str]) -> bool:
    return parent in PARTITIONED or (not parent and name in own)


def copied(session: psycopg.Connection[Any], table: BackupTable) -> Iterator[Piece]:
    """Yield the table's rows as COPY writes them."""
    with session.cursor() as cursor, cursor.copy(copy_statement(table, "TO STDOUT")) as copy:
        yield from copy


def copy_statement(table: BackupTable, direction: Literal["TO STDOUT", "FROM STDIN"]) -> sql.Composed:
    """Return the COPY of a table's columns, `TO STDOUT` or `FROM STDIN`.

    Rows that come in are frozen, so that nothing visits them again later. The table must have been made or emptied in
    the same transaction.
    """
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    frozen = ", FREEZE" if direction == "FROM STDIN" else ""
    return sql.SQL("COPY {} ({}) " + direction + " (FORMAT " + table.format + frozen + ")").format(
        sql.Identifier(table.name), columns
    )


def sequences(session: psycopg.Connection[Any]) -> list[dict[str, Any]]:
    """Return the sequence of each numbered column with its last value, so that no number is given twice."""
    found = []
    for table, column, sequence in session.execute(_SEQUENCES).fetchall():
        state = session.execute(
            sql.SQL("SELECT last_value, is_called FROM {}").format(sql.Identifier(sequence))
        ).fetchone()
        assert state is not None
        found.append({"table": table, "column": column, "last": state[0], "called": state[1]})
    return found


def migrations(session: psycopg.Connection[Any]) -> list[list[str]]:
    """Return the applied migrations as [app, name]."""
    rows = session.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()
    return [[app, name] for app, name in rows]


def counts(session: psycopg.Connection[Any]) -> dict[str, int]:
    """Return how much of what is inside, for people."""
    asked = {
        "knowledge_bases": "search_knowledgebase", "releases": "search_release WHERE status = 'ready'",
        "nodes": "search_node", "edges": "search_edge", "vectors": "search_vector", "searches": "search_searchrun",
        "jobs": "search_job", "artifacts": "search_artifact", "users": "auth_user",
    }  # fmt: skip
    found = {}
    for noun, source in asked.items():
        row = session.execute(f"SELECT count(*) FROM {source}".encode()).fetchone()
        found[noun] = row[0] if row else 0
    return found


def ids(session: psycopg.Connection[Any], statement: str) -> list[Any]:
    """Return the first column of a query."""
    return [row[0] for row in session.execute(statement.encode()).fetchall()]


def _content(session: psycopg.Connection[Any], table: str) -> str:
    """Return the number of rows and the newest transaction that wrote one; deleting or writing rows changes it."""
    row = session.execute(
        sql.SQL("SELECT count(*), coalesce(max(xmin::text::bigint), 0) FROM {}").format(sql.Identifier(table))
    ).fetchone()
    assert row is not None
    return f"{row[0]}-{row[1]}"
