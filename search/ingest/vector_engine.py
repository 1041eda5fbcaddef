"""Copies the vectors of a vector set into the vector engine (`VECTORS_URL`), and drops them there.

The site's own Postgres keeps all vectors: they are reused, backed up and mapped from there, and the engine can be
filled anew at any time. A share is copied in blocks of keys, each committed whole, so that an interrupted copy goes on
behind the highest key. Its table gets its name when everything is there, so that no search sees a part.
"""

from __future__ import annotations

import re
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.db import connection
from psycopg import sql

from search.domain.errors import StageError
from search.domain.run_context import UNOBSERVED, RunContext
from search.domain.vector_kinds import COMPUTED, IN_MEMORY, PROSE
from search.ingest.parts import COPY_VECTORS, INDEX_ENGINE
from search.ingest.statements import watched
from search.models import VectorSet
from search.models.partitions import partition
from search.models.vector_servers import Raw, VectorServer, errors, servers

STAGE = "vectors"
BLOCK = 5_000
"""Nodes that are copied at once: 8 MB of a kind with 384 dimensions."""
EXTENSION = "vectorscale"
_OURS = re.compile(r"grasp_(?:vectors|filling)_(\d+)_\d+_of_\d+")

log = structlog.get_logger(__name__)


def is_searched(vector_set: VectorSet) -> bool:
    """Return whether searches ask the engine for the neighbours in this set: smaller ones are compared in memory."""
    return bool(servers()) and vector_set.snapshot.nodes > IN_MEMORY


def fill(vector_set: VectorSet, run: RunContext = UNOBSERVED) -> None:
    """Copy a filled vector set into the engine and index it there, unless it is there already or no search asks for it.

    Raises EngineAway while a server does not answer, and a permanent StageError if it lacks the extension; a later call
    goes on where this one stopped.
    """
    if not is_searched(vector_set):
        return
    for server in servers():
        with errors(STAGE), server.connect() as raw:
            _share(vector_set, server, raw, run)


def held(server: VectorServer) -> frozenset[int]:
    """Return the numbers of the vector sets whose whole share a server holds. Raises EngineAway."""
    with errors(STAGE), server.connect() as raw:
        names = _tables(raw)
    owners = {name: int(found[1]) for name in names if (found := _OURS.fullmatch(name))}
    return frozenset(owner for name, owner in owners.items() if name == server.table(owner))


def drop(vector_sets: set[int] | None = None, *, keep: set[int] | None = None) -> None:
    """Drop these vector sets in the engine, or all but those to `keep`; what cannot be reached is dropped later."""
    for server in servers():
        try:
            with errors(STAGE), server.connect() as raw:
                for name in _tables(raw):
                    found = _OURS.fullmatch(name)
                    owner = int(found[1]) if found else None
                    if owner is not None and (owner in (vector_sets or ()) or (keep is not None and owner not in keep)):
                        _execute(raw, "DROP TABLE IF EXISTS {table}", table=name)
        except StageError as error:
            log.warning("vectors left behind in the vector engine", reason=error.reason)


def _share(vector_set: VectorSet, server: VectorServer, raw: Raw, run: RunContext) -> None:
    """Copy and index the share of one server."""
    present, whole, unfinished = _tables(raw), server.table(vector_set.pk), server.unfinished(vector_set.pk)
    if whole in present:
        return
    _extend(raw)
    # What an engine of another number of servers has held of this set.
    for name in present:
        if (found := _OURS.fullmatch(name)) and int(found[1]) == vector_set.pk and name != unfinished:
            _execute(raw, "DROP TABLE IF EXISTS {table}", table=name)
    _execute(
        raw,
        "CREATE TABLE IF NOT EXISTS {table} (kind text NOT NULL, key int NOT NULL, part smallint NOT NULL, "
        f"type smallint NOT NULL, embedding vector({vector_set.dimensions}) NOT NULL)",
        table=unfinished,
    )
    # Nothing looks for the nearest prose: it is compared with documents that were found.
    kinds = [kind for kind in (*vector_set.kinds, *COMPUTED) if kind != PROSE]
    for place, kind in enumerate(kinds):
        _copy(vector_set, server, raw, run, kind, place + server.place * len(kinds), len(kinds) * server.places)
    statements = ["CREATE INDEX IF NOT EXISTS {index} ON {table} (kind, type, key)"]
    statements += [
        "CREATE INDEX IF NOT EXISTS {index} ON {table} USING diskann (embedding vector_cosine_ops) WHERE kind = {kind}"
    ] * len(kinds)
    raw.execute("SELECT set_config('maintenance_work_mem', %s, false)", [settings.VECTORS_MEMORY])
    raw.execute("SELECT set_config('max_parallel_maintenance_workers', %s, false)", [str(settings.VECTORS_WORKERS)])
    total = len(statements) * server.places
    for place, (kind, statement) in enumerate(zip(["", *kinds], statements, strict=True)):
        with watched(run, INDEX_ENGINE, place + server.place * len(statements), total, raw):
            _execute(raw, statement, table=unfinished, index=f"{unfinished}_{place}", kind=kind)
    _execute(raw, "ANALYZE {table}", table=unfinished)
    _execute(raw, "ALTER TABLE {table} RENAME TO {index}", table=unfinished, index=whole)


def _copy(
    vector_set: VectorSet, server: VectorServer, raw: Raw, run: RunContext, kind: str, place: int, places: int
) -> None:
    """Copy a kind's vectors of the keys that belong to a server, from the first key that is missing on."""
    nodes, table = vector_set.snapshot.nodes, server.unfinished(vector_set.pk)
    source = sql.SQL(
        "COPY (SELECT kind, key, part, type, embedding::vector({dimensions}) FROM {own} WHERE vector_set_id = {owner} "
        "AND kind = {kind} AND key >= {first} AND key < {end} AND key % {places} = {place} ORDER BY key, part) "
        "TO STDOUT (FORMAT BINARY)"
    )
    values = {
        "dimensions": sql.Literal(vector_set.dimensions), "owner": sql.Literal(vector_set.pk),
        "own": sql.Identifier(partition("search_vector", vector_set.pk)), "kind": sql.Literal(kind),
        "places": sql.Literal(server.places), "place": sql.Literal(server.place),
    }  # fmt: skip
    target = sql.SQL("COPY {} (kind, key, part, type, embedding) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(table)
    )
    (begun,) = _execute(
        raw, "SELECT coalesce(max(key) + 1, 0) FROM {table} WHERE kind = {kind}", table=table, kind=kind
    )
    for first in range(int(begun), nodes, BLOCK):
        run.report(COPY_VECTORS, place * nodes + first, places * nodes)
        block = source.format(first=sql.Literal(first), end=sql.Literal(first + BLOCK), **values)
        connection.ensure_connection()
        with psycopg.Cursor(connection.connection) as reading, reading.copy(block) as rows:
            read = [bytes(piece) for piece in rows]
        with psycopg.Cursor(raw) as writing, writing.copy(target) as copy:
            for piece in read:
                copy.write(piece)


def _extend(raw: Raw) -> None:
    """Add the extension to the engine's database if it is missing. Raises a permanent StageError if that fails."""
    if raw.execute("SELECT FROM pg_extension WHERE extname = %s", [EXTENSION]).fetchone() is not None:
        return
    try:
        raw.execute(f"CREATE EXTENSION {EXTENSION} CASCADE")
    except psycopg.Error as error:
        reason = (
            f"the vector engine's database has no extension {EXTENSION} ({str(error).strip().splitlines()[0]}); with "
            f"pgvectorscale installed, a superuser adds it there: CREATE EXTENSION {EXTENSION} CASCADE"
        )
        raise StageError(STAGE, reason, permanent=True) from error


def _tables(raw: Raw) -> list[str]:
    """Return the names of the tables of a server that are ours, finished or not."""
    found = raw.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind = 'r' AND n.nspname = current_schema() AND c.relname ~ '^grasp_(vectors|filling)_[0-9]'"
    )
    return sorted(name for (name,) in found)


def _execute(raw: Raw, statement: str, *, table: str, index: str = "", kind: str = "") -> tuple[Any, ...]:
    """Run a statement, and return its first row, or an empty one."""
    composed = sql.SQL(statement).format(
        table=sql.Identifier(table), index=sql.Identifier(index or table), kind=sql.Literal(kind)
    )
    done = raw.execute(composed)
    return (done.fetchone() or ()) if done.description else ()
