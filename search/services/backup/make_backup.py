"""make_backup: writes everything that is not rebuilt for free into one file, as it is at one moment; searches go on.

The rows are read in one transaction that sees the database as it is at its beginning. Index files and artifacts never
change once they are finished, and nothing is dropped while a backup runs. So they fit the rows whenever they are read.
What never changes is written first. If the backup is cut off, the next one keeps those parts.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.utils import timezone

from search.domain.run_context import UNOBSERVED, RunCancelled, RunContext
from search.ingest.locks import hold_for_backup
from search.models import Artifact, BackupRun, Snapshot
from search.models.knowledge import BuildStatus
from search.services.backup import tables
from search.services.backup.archive import Writer
from search.services.backup.contents import SECRET_KEY, StoredFile, changing, home, pieces_of, stored_files
from search.services.backup.errors import BackupError, size, told_when_full
from search.services.backup.tables import BackupTable
from search.services.code_version import code_version

FILES, ROWS = "Files", "Rows"
ATTEMPTS = 3
"""Attempts to list the tables: one of them may be dropped at the same moment."""
LEAST_SHARE = 0.35
"""Share of the bytes that a backup takes at least: vectors hardly shrink, text shrinks to a quarter."""
PACKED_A_SECOND = 60e6
"""Bytes that are read and packed in a second, for the first estimate of the time."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What was made: the file, its bytes, the manifest's SHA-256, counts of what is inside, members kept."""

    file: Path
    bytes: int
    fingerprint: str
    counts: Mapping[str, int]
    members: int
    kept: int
    secret_key: bool

    def to_json(self) -> dict[str, Any]:
        """Return the report for `--json`."""
        return asdict(self) | {"file": str(self.file)}


@dataclass(frozen=True, slots=True)
class _Content:
    """Everything that goes in, and how much of it there is."""

    files: Sequence[StoredFile]
    tables: Sequence[BackupTable]

    @property
    def lasting(self) -> list[StoredFile]:
        """The files that never change."""
        return [file for file in self.files if not changing(file)]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files) + sum(table.bytes for table in self.tables)


def expected_parts() -> dict[str, float]:
    """Return the parts with the seconds that they are expected to take."""
    return {part: number / PACKED_A_SECOND for part, number in _extent().items()}


def least_bytes() -> int:
    """Return how many bytes a backup of the site takes at least."""
    return int(sum(_extent().values()) * LEAST_SHARE)


def _extent() -> dict[str, int]:
    """Return the bytes that each part reads, without reading a row."""
    snapshots = Snapshot.objects.filter(status=BuildStatus.READY).values_list("pk", flat=True)
    artifacts = Artifact.objects.values_list("pk", flat=True)
    files = sum(file.bytes for file in stored_files(list(snapshots), list(artifacts)))
    return {FILES: files, ROWS: tables.table_bytes()}


def make_backup(*, file: Path, run: RunContext = UNOBSERVED) -> BackupReport:
    """Write a backup, and return what it holds; the file appears under its name when it is complete.

    A call that is cut off leaves `FILE.partial`, and the next call with the same name goes on behind it. Raises
    BackupError if the file exists, if the disk is too small, or if another backup writes the same file.
    """
    if file.exists():
        raise BackupError(f"{file} exists; give another name, or move it away first.")
    if not file.absolute().parent.is_dir():
        raise BackupError(f"{file.absolute().parent} is not a folder.")
    record = _record_of(file.absolute())
    try:
        report = _tried(file.absolute(), record, run)
    except RunCancelled:
        record.error = BackupRun.CANCELLED
        raise
    except BaseException as error:
        record.error = str(error) or "The backup was interrupted."
        raise
    else:
        record.bytes, record.counts, record.fingerprint = report.bytes, dict(report.counts), report.fingerprint
        record.code_version, record.key_inside = code_version()[:100], report.secret_key
        return report
    finally:
        record.finished = timezone.now()
        record.save()


def _record_of(file: Path) -> BackupRun:
    """Return the row of a backup; the one of an earlier attempt at the same file is used again."""
    place = str(file)[:500]
    record = BackupRun.objects.filter(place=place).exclude(finished__isnull=False, error="").first()
    if record is None:
        return BackupRun.objects.create(place=place)
    record.started, record.finished, record.error = timezone.now(), None, ""
    record.save()
    return record


def _tried(file: Path, record: BackupRun, run: RunContext) -> BackupReport:
    """Make the backup, and begin again if a table is dropped while the tables are listed."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with tables.frozen() as session:
                hold_for_backup(session)
                # The lock is no part of what the transaction sees: it begins anew behind it.
                session.commit()
                return _made(file, record, session, run)
        except psycopg.errors.UndefinedTable as error:
            if attempt == ATTEMPTS:
                raise BackupError("Tables are being dropped all the time; make the backup again later.") from error
        except psycopg.Error as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise BackupError(
                f"Postgres ended the backup: {reason}. Make it again; it goes on where it was."
            ) from error
    raise AssertionError


def _made(file: Path, record: BackupRun, session: psycopg.Connection[Any], run: RunContext) -> BackupReport:
    content = _content(session)
    again = f"What is written is kept: the same command goes on behind {file.name}.partial once there is space."
    with told_when_full(file.parent, again), Writer(file, _origin(session)) as writer:
        kept = writer.begin(_lasting(content))
        _refuse_small_disk(file, content, writer)
        _write(writer, content, session, run)
        counted = tables.counts(session)
        fingerprint = writer.finish(_manifest(content, session, counted) | {"record": record.pk})
        return BackupReport(
            file, file.stat().st_size, fingerprint, counted, len(writer.members), kept,
            any(one.name == SECRET_KEY for one in content.files),
        )  # fmt: skip


def _content(session: psycopg.Connection[Any]) -> _Content:
    found = tables.all_tables(session)
    snapshots = tables.ids(session, "SELECT id FROM search_snapshot WHERE status = 'ready'")
    artifacts = tables.ids(session, "SELECT id FROM search_artifact")
    return _Content(list(stored_files(snapshots, artifacts)), found)


def _lasting(content: _Content) -> dict[str, str]:
    """Return name → identity of the members that an earlier attempt may have written already."""
    wanted = {"grasp-search-backup.txt": ""}
    wanted |= {file.member: file.identity for file in content.lasting}
    return wanted | {table.member: table.identity for table in content.tables if table.parent}


def _write(writer: Writer, content: _Content, session: psycopg.Connection[Any], run: RunContext) -> None:
    """Write what never changes, then the rest; report the bytes that were read."""
    there = writer.names
    done = {FILES: 0, ROWS: 0}
    total = {FILES: sum(one.bytes for one in content.files), ROWS: sum(one.bytes for one in content.tables)}

    def told(part: str, number: int) -> None:
        done[part] += number
        run.report(part, min(done[part], total[part]), total[part])
        run.check()

    def files(chosen: Sequence[StoredFile]) -> None:
        for file in chosen:
            if file.member not in there:
                writer.add(file.member, file.identity, pieces_of(file), file.bytes)
            told(FILES, file.bytes)

    files(content.lasting)
    partitions = [table for table in content.tables if table.parent]
    for table in (*partitions, *(table for table in content.tables if not table.parent)):
        if table.member not in there:
            writer.add(table.member, table.identity, _watched(tables.copied(session, table), run), table.bytes)
        told(ROWS, table.bytes)
        if table.parent:
            writer.save()
    files([file for file in content.files if changing(file)])


def _watched(pieces: Iterator[tables.Piece], run: RunContext) -> Iterator[tables.Piece]:
    for piece in pieces:
        run.check()
        yield piece


def _manifest(content: _Content, session: psycopg.Connection[Any], counted: dict[str, int]) -> dict[str, Any]:
    return {
        "made": timezone.now().isoformat(),
        "code_version": code_version(),
        "migrations": tables.migrations(session),
        "postgres": session.info.server_version,
        "counts": counted,
        "tables": [
            {"name": one.name, "parent": one.parent, "columns": list(one.columns), "bytes": one.bytes}
            for one in content.tables
        ],
        "sequences": tables.sequences(session),
        "disk": {"files": sum(one.bytes for one in content.files), "rows": sum(one.bytes for one in content.tables)},
        "secrets": {
            "key_inside": any(file.name == SECRET_KEY for file in content.files),
            "key_mark": key_mark(settings.SECRET_KEY),
        },
    }


def key_mark(secret_key: str) -> str:
    """Return a mark by which the same SECRET_KEY is recognised; the key cannot be computed from it."""
    return hashlib.scrypt(secret_key.encode(), salt=b"grasp backup", n=2**14, r=8, p=1, dklen=12).hex()


def _origin(session: psycopg.Connection[Any]) -> str:
    """Return what tells this site's database from others, so that no backup goes on behind one of another site."""
    row = session.execute(
        "SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' || oid FROM pg_database "
        "WHERE datname = current_database()"
    ).fetchone()
    return f"{home().resolve()} {row[0] if row else ''}"


def _refuse_small_disk(file: Path, content: _Content, writer: Writer) -> None:
    needed = content.bytes * LEAST_SHARE - sum(member.bytes for member in writer.members)
    free = shutil.disk_usage(file.parent).free
    if needed > free:
        raise BackupError(
            f"The backup needs about {size(needed)}, and {size(free)} are free in {file.parent}. Free some space, or "
            "write it to another disk."
        )
