"""The schema into which a backup is restored, beside the site's own, and the switch from one to the other.

While the schema is filled the site's own tables stay as they are. The switch is one transaction: the site's tables are
dropped, and the restored ones take their place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql

from search.ingest.partitions import with_locks
from search.models.partitions import PARTITIONED
from search.services.backup.errors import BackupError

SCHEMA = "grasp_restore"
"""Name of the schema. Its table `restored_parts` lists what is in it already."""
_DONE = "restored_parts"


def own_schema() -> str:
    """Return the schema of the site's tables."""
    return str(_one("SELECT current_schema()"))


@contextmanager
def inside(own: str) -> Iterator[None]:
    """Have the connection create and find tables in the new schema first; types are found in the site's own one."""
    _path([SCHEMA, own])
    try:
        yield
    finally:
        if not connection.needs_rollback:
            _path([own])


def exists() -> bool:
    """Whether a restore has begun."""
    return bool(_one("SELECT to_regnamespace(%s) IS NOT NULL", SCHEMA))


def begin(own: str, fingerprint: str) -> set[str]:
    """Create the schema, or keep one that was begun with the same backup; return what is in it already."""
    if exists():
        if _is_of(fingerprint):
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT part FROM {SCHEMA}.{_DONE}")
                return {part for (part,) in cursor.fetchall()}
        drop()
    with transaction.atomic():
        _execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA {own}", own=own)
        _execute("CREATE SCHEMA {schema}", schema=SCHEMA)
        _execute("CREATE TABLE {schema}.{done} (part text PRIMARY KEY)", schema=SCHEMA, done=_DONE)
        if _one("SELECT to_regclass('django_migrations') IS NOT NULL"):
            # An empty list of migrations hides the one of the site, so that all of them run in the new schema.
            _execute(
                "CREATE TABLE {schema}.django_migrations (LIKE {own}.django_migrations INCLUDING ALL)",
                schema=SCHEMA, own=own,
            )  # fmt: skip
        note(fingerprint)
    return {fingerprint}


def note(part: str) -> None:
    """Note that a part is in the schema, in the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {SCHEMA}.{_DONE} VALUES (%s) ON CONFLICT DO NOTHING", [part])


def drop() -> None:
    """Drop the schema with everything in it, table by table: all at once would need too many locks."""
    for table in _tables(SCHEMA):
        _execute("DROP TABLE IF EXISTS {schema}.{table} CASCADE", schema=SCHEMA, table=table)
    _execute("DROP SCHEMA IF EXISTS {schema} CASCADE", schema=SCHEMA)


def check_known(migrations: Collection[Sequence[str]]) -> None:
    """Raise BackupError if the backup has migrations that this version does not have."""
    known = MigrationExecutor(connection).loader.disk_migrations
    unknown = [f"{app} {name}" for app, name in migrations if (app, name) not in known]
    if unknown:
        raise BackupError(
            f"The backup was made by a newer version of GRASP search: this one does not know {unknown[-1]}. Restore it "
            "with that version."
        )


def migrate_to(migrations: Collection[Sequence[str]]) -> None:
    """Create the tables in the state that these applied migrations ([app, name]) made."""
    executor = MigrationExecutor(connection)
    applied = {(app, name) for app, name in migrations}
    graph = executor.loader.graph
    ends = [
        node for node in sorted(applied)
        if node in graph.nodes and not any(child.key[0] == node[0] and child.key in applied
                                           for child in graph.node_map[node].children)
    ]  # fmt: skip
    try:
        executor.migrate(ends)
    except InconsistentMigrationHistory as error:
        raise BackupError(f"The tables of the backup cannot be made: {error}") from error
    # Migrations may have written rows of their own; the backup has them, too.
    names = [table for table in _tables(SCHEMA) if table not in (_DONE, "django_migrations")]
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(map(sql.Identifier, names))))


def migrate_on() -> None:
    """Apply the migrations that are newer than the backup."""
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def switch(own: str) -> None:
    """Put the restored tables in the place of the site's own, in one transaction. Raises OperationalError if locked."""

    def exchange() -> None:
        restored = [table for table in _tables(SCHEMA) if table != _DONE]
        for table in _tables(own):
            if table in restored or table.rsplit("_", 1)[0] in PARTITIONED:
                _execute("DROP TABLE IF EXISTS {own}.{table} CASCADE", own=own, table=table)
        for table in restored:
            _execute("ALTER TABLE {schema}.{table} SET SCHEMA {own}", schema=SCHEMA, table=table, own=own)
        _execute("DROP SCHEMA {schema} CASCADE", schema=SCHEMA)

    with_locks(exchange)


def _is_of(fingerprint: str) -> bool:
    if not _one("SELECT to_regclass(%s) IS NOT NULL", f"{SCHEMA}.{_DONE}"):
        return False
    return bool(_one(f"SELECT EXISTS (SELECT FROM {SCHEMA}.{_DONE} WHERE part = %s)", fingerprint))


def _tables(schema: str) -> list[str]:
    """Return the tables of a schema; partitions come after their parents."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND c.relkind IN ('r', 'p') ORDER BY c.relispartition, c.relname",
            [schema],
        )
        return [name for (name,) in cursor.fetchall()]


def _path(schemas: Sequence[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('search_path', %s, false)", [", ".join(f'"{name}"' for name in schemas)])


def _one(statement: str, *parameters: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
        return row[0] if row else None


def _execute(statement: str, **names: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(**{key: sql.Identifier(name) for key, name in names.items()}))
