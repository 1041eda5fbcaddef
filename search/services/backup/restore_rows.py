"""Loads the rows of a backup into the new schema: the ordinary tables at once, and the partitions beside them.

Everything is loaded into tables that are made or emptied in the same transaction, and indexed afterwards: then Postgres
writes each row once, to its table and not to its log as well, where `wal_level` is `minimal`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from threading import Event
from typing import Any

import psycopg
import structlog
from django.db import connection, transaction
from psycopg import sql

from search.domain.errors import StageError
from search.domain.run_context import RunCancelled
from search.domain.vector_kinds import IN_MEMORY
from search.ingest import partitions, vector_engine, vectors
from search.models import VectorSet
from search.models.knowledge import BuildStatus
from search.models.partitions import PARTITIONED
from search.services.backup import site_schema
from search.services.backup.archive import ArchiveReader, Member
from search.services.backup.errors import BackupError
from search.services.backup.tables import BackupTable, copy_statement

TABLES, UPGRADED = "all tables", "upgraded"
"""What `site_schema.note` calls these parts; a partition is called by its name."""
_OWNERS = {"search_node": "snapshot_id", "search_edge": "snapshot_id", "search_vector": "vector_set_id"}
log = structlog.get_logger(__name__)

THREADS = min(4, max(1, (os.cpu_count() or 2) - 1))
"""Partitions that are loaded and indexed at the same time, beside the ordinary tables."""
Told = Callable[[int], None]
"""Receives the bytes (of the backup's tables) that are loaded."""


def tables_of(manifest: Mapping[str, Any]) -> list[BackupTable]:
    """Return the tables of a manifest. Raises BackupError for names that no backup has."""
    found = [
        BackupTable(one["name"], one["parent"], tuple(one["columns"]), int(one["bytes"])) for one in manifest["tables"]
    ]  # fmt: skip
    for table in found:
        number = table.name.rsplit("_", 1)[-1]
        if table.parent and (table.parent not in PARTITIONED or table.name != f"{table.parent}_{number}"
                             or not number.isdecimal()):  # fmt: skip
            raise BackupError(f"The manifest names a partition {table.name!r} of {table.parent!r}, which cannot be.")
    return found


def load_rows(file: Path, own: str, done: Collection[str], told: Told) -> None:
    """Load everything that is not `done`; each step is one transaction, so an interrupted restore goes on behind it.

    The tables of the new schema must be in the state of the backup. The ordinary tables are loaded in one thread, the
    partitions, largest first, in `THREADS`, each thread with a reader and a connection of its own. `own` is the site's
    schema. If one fails, the others end at their next table, and the first failure is raised.
    """
    with ArchiveReader(file) as reader:
        found = tables_of(reader.manifest)
    ordinary = [table for table in found if not table.parent]
    partitioned: Queue[BackupTable] = Queue()
    for table in sorted((table for table in found if table.parent), key=lambda table: -table.bytes):
        partitioned.put(table)
    failed = Event()

    def working(work: Callable[[ArchiveReader], None]) -> None:
        try:
            with ArchiveReader(file) as reader, site_schema.inside(own):
                work(reader)
        except BaseException:
            failed.set()
            raise
        finally:
            connection.close()

    works = [partial(_load_ordinary, ordinary=ordinary, done=done, told=told, failed=failed)]
    works += [partial(_load_partitions, waiting=partitioned, done=done, told=told, failed=failed)] * THREADS
    try:
        with ThreadPoolExecutor(len(works), thread_name_prefix="restore-rows") as pool:
            loading = [pool.submit(working, one) for one in works]
    finally:
        # Also where somebody interrupts the command while it waits here.
        failed.set()
    failures = [failure for one in loading if (failure := one.exception()) is not None]
    # A thread that was told to stop has nothing to say.
    for failure in sorted(failures, key=lambda failure: isinstance(failure, RunCancelled)):
        raise failure


def _load_partitions(
    reader: ArchiveReader, *, waiting: Queue[BackupTable], done: Collection[str], told: Told, failed: Event
) -> None:
    members = {member.name: member for member in reader.members}
    while not failed.is_set():
        try:
            table = waiting.get_nowait()
        except Empty:
            return
        if table.name not in done:
            _load_partition(reader, _member(members, table), table, failed)
        told(table.bytes)


def _load_ordinary(
    reader: ArchiveReader, *, ordinary: Sequence[BackupTable], done: Collection[str], told: Told, failed: Event
) -> None:
    """Load all ordinary tables in one transaction, at whose end their foreign keys are checked."""
    if TABLES in done:
        told(sum(table.bytes for table in ordinary))
        return
    members = {member.name: member for member in reader.members}
    with transaction.atomic():
        with connection.cursor() as cursor:
            names = sql.SQL(", ").join(sql.Identifier(table.name) for table in ordinary)
            cursor.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))
        for table in ordinary:
            if failed.is_set():
                raise RunCancelled
            _copy(reader, _member(members, table), table, failed)
            told(table.bytes)
        _set_sequences(reader.manifest["sequences"], {table.name for table in ordinary})
        site_schema.note(TABLES)


def index_neighbours() -> int:
    """Build the HNSW indexes of the vector sets that searches use them for, or copy them into the vector engine.

    Smaller sets are compared in their matrices, so that searches of them do not need the indexes. Returns the number of
    large ones.
    """
    large = VectorSet.objects.filter(status=BuildStatus.READY, snapshot__nodes__gt=IN_MEMORY)
    for vector_set in large.select_related("snapshot"):
        vectors.index(vector_set)
        try:
            vector_engine.fill(vector_set)
        except StageError as error:
            # The data is restored all the same; the state of the engine tells that `index_kb` has to copy it.
            log.warning("vectors were not copied", vectors=str(vector_set), reason=error.reason)
    return large.count()


def _load_partition(reader: ArchiveReader, member: Member, table: BackupTable, failed: Event) -> None:
    owner = int(table.name.rsplit("_", 1)[1])
    with transaction.atomic():
        if table.parent == "search_vector":
            vectors.create(owner, hashed=False)
        else:
            partitions.create(table.parent, owner)  # type: ignore[arg-type]
        _copy(reader, member, table, failed)
        if table.parent == "search_vector":
            vectors.index_rows(owner)
        else:
            partitions.index(table.parent, owner, table.name)  # type: ignore[arg-type]
        with connection.cursor() as cursor:
            cursor.execute(
                sql.SQL("ALTER TABLE {} ATTACH PARTITION {} FOR VALUES IN ({})").format(
                    sql.Identifier(table.parent), sql.Identifier(table.name), sql.Literal(owner)
                )
            )
            check = "of_vector_set" if table.parent == "search_vector" else "of_snapshot"
            cursor.execute(
                sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.Identifier(table.name), sql.Identifier(check))
            )
        site_schema.note(table.name)


def _copy(reader: ArchiveReader, member: Member, table: BackupTable, failed: Event) -> None:
    """Load one table; a member that is not what was written raises BackupError, and the transaction is rolled back.

    Raises RunCancelled once another thread has failed.
    """
    connection.ensure_connection()
    try:
        with psycopg.Cursor(connection.connection) as cursor, cursor.copy(copy_statement(table, "FROM STDIN")) as copy:
            for piece in _pieces(reader, member, failed):
                copy.write(piece)
    except psycopg.Error as error:
        if isinstance(error.__cause__, BackupError | RunCancelled):
            raise error.__cause__ from error
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BackupError(f"The rows of {table.name} cannot be loaded: {reason}.") from error


def _pieces(reader: ArchiveReader, member: Member, failed: Event) -> Iterator[bytes]:
    for piece in reader.unpacked(member):
        if failed.is_set():
            raise RunCancelled
        yield piece


def _member(members: Mapping[str, Member], table: BackupTable) -> Member:
    try:
        return members[table.member]
    except KeyError as error:
        raise BackupError(f"The rows of {table.name} are missing in the backup; use another copy of it.") from error


def _set_sequences(sequences: Sequence[Mapping[str, Any]], known: set[str]) -> None:
    with connection.cursor() as cursor:
        for one in sequences:
            if one["table"] in known:
                cursor.execute(
                    "SELECT setval(pg_get_serial_sequence(%s, %s), %s, %s)",
                    [f'{site_schema.SCHEMA}."{one["table"]}"', one["column"], one["last"], one["called"]],
                )
