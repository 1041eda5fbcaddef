"""restore_backup: puts a backup in the place of what the site holds; before the switch at its end nothing is changed.

Rows go into a schema of their own, files into a folder of their own, each is compared with its hash, and the rows are
migrated to this version. An interrupted restore goes on behind what is there.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import DatabaseError, connection

from search.domain.run_context import UNOBSERVED, RunCancelled, RunContext
from search.models import KnowledgeBase, SearchRun
from search.services.backup import restore_files, restore_rows, site_schema
from search.services.backup.archive import ArchiveReader
from search.services.backup.contents import home
from search.services.backup.errors import BackupError, DamagedBackup, size, told_when_full
from search.services.backup.kept import CHECK, settle_restored
from search.services.backup.make_backup import key_mark
from search.services.health import queue_status

UNPACK, NEIGHBOURS = "Files and rows", "Indexes of neighbours"
UNPACKED_A_SECOND = 40e6
"""Bytes of rows and files that are put in place in a second, for the first estimate of the time."""
SPARE = 256 * 1024**2


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was restored: when it was made, by which version, its counts, and what the person has to do now."""

    file: Path
    made: str
    code_version: str
    counts: dict[str, int]
    upgraded: bool
    secret_key: str

    def to_json(self) -> dict[str, Any]:
        """Return the report for `--json`."""
        return asdict(self) | {"file": str(self.file)}


def expected_parts(reader: ArchiveReader) -> dict[str, float]:
    """Return the parts with the seconds that they are expected to take."""
    disk = reader.manifest["disk"]
    seconds = (disk["rows"] + disk["files"]) / UNPACKED_A_SECOND
    return {UNPACK: seconds, NEIGHBOURS: 0.1}


def check_backup(*, file: Path, fingerprint: str = "", run: RunContext = UNOBSERVED) -> dict[str, int]:
    """Compare every part of a backup with its hash, write nothing, and return the counts of what is inside."""
    with ArchiveReader(file) as reader:
        _check_fingerprint(reader, fingerprint)
        site_schema.check_known(reader.manifest["migrations"])
        total = sum(member.bytes for member in reader.members)
        reader.check(lambda done: run.report(CHECK, done, total))
        return dict(reader.manifest["counts"])


def restore_backup(
    *, file: Path, force: bool = False, fingerprint: str = "", run: RunContext = UNOBSERVED
) -> RestoreReport:
    """Restore a backup into this home and its database.

    With `force` it replaces what is there. Raises BackupError if the home is not empty, while a worker runs, if the
    disk is too small, or if the file is no backup, was cut off, is damaged or is of a newer version.
    """
    with ArchiveReader(file) as reader:
        _check_fingerprint(reader, fingerprint)
        site_schema.check_known(reader.manifest["migrations"])
        if not restore_files.switching(reader.fingerprint):
            if not force:
                _refuse_occupied()
            _refuse_while_running()
        _refuse_small_disk(reader)
        upgraded = _restored(reader, run)
        return RestoreReport(
            file, reader.manifest["made"], reader.manifest["code_version"], reader.manifest["counts"], upgraded,
            _secret_key(reader),
        )  # fmt: skip


def _restored(reader: ArchiveReader, run: RunContext) -> bool:
    """Prepare everything, switch, and return whether newer migrations were applied."""
    own = site_schema.own_schema()
    full = "Nothing was changed; free some space, and the same command goes on where it was."
    if restore_files.switching(reader.fingerprint) and not site_schema.exists():
        # The process ended between the switch and the end.
        upgraded = False
    else:
        try:
            with told_when_full(home(), full):
                upgraded = _prepare(reader, own, run)
        except DamagedBackup:
            site_schema.drop()
            restore_files.clean(reader.fingerprint)
            raise
        _switch(reader, own)
    restore_files.clean(reader.fingerprint)
    # Writes the rows of new permissions and kinds of contents.
    call_command("migrate", interactive=False, verbosity=0)
    settle_restored(reader)
    run.report(NEIGHBOURS, 0, None)
    restore_rows.index_neighbours()
    return upgraded


def _prepare(reader: ArchiveReader, own: str, run: RunContext) -> bool:
    done = site_schema.begin(own, reader.fingerprint)
    told = _Counted(run, int(reader.manifest["disk"]["files"]) + int(reader.manifest["disk"]["rows"]))
    with _beside(reader.path, told), site_schema.inside(own), _sentences():
        if "tables made" not in done:
            site_schema.migrate_to(reader.manifest["migrations"])
            site_schema.note("tables made")
        restore_rows.load_rows(reader.path, own, done, told)
        before = len(reader.manifest["migrations"])
        site_schema.migrate_on()
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {site_schema.SCHEMA}.django_migrations")
            row = cursor.fetchone()
            return bool(row and row[0] > before)


class _Counted:
    """Adds up what the thread of the files and the one of the rows have done, and reports it."""

    def __init__(self, run: RunContext, total: int) -> None:
        self._run = run
        self._total = total
        self._done = 0
        self._lock = threading.Lock()
        self.stopped = False

    def __call__(self, number: int) -> None:
        """Count the bytes of a member that is done. Raises RunCancelled, in both threads once it was raised in one."""
        with self._lock:
            if self.stopped:
                raise RunCancelled
            self._done += number
            self._run.report(UNPACK, min(self._done, self._total), self._total)
            self._run.check()


@contextmanager
def _beside(file: Path, told: _Counted) -> Iterator[None]:
    """Unpack the files in a thread, with a reader of its own, while the caller loads the rows."""

    def unpack() -> None:
        with ArchiveReader(file) as reader:
            restore_files.unpack_files(reader, told)

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="restore") as pool:
        unpacking = pool.submit(unpack)
        try:
            yield
        except BaseException:
            told.stopped = True
            if (failure := unpacking.exception()) is not None and not isinstance(failure, RunCancelled):
                raise failure from None
            raise
        unpacking.result()


def _switch(reader: ArchiveReader, own: str) -> None:
    restore_files.exchange(reader.fingerprint)
    try:
        site_schema.switch(own)
    except DatabaseError as error:
        restore_files.undo(reader.fingerprint)
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BackupError(
            f"The tables are in use, so the switch was not made and nothing was changed ({reason}). Stop the site, "
            "then give the same command again; it goes on where it was."
        ) from error


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what Postgres says into a sentence."""
    try:
        yield
    except DatabaseError as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BackupError(f"Postgres refused the restore, and nothing was changed: {reason}") from error


def _check_fingerprint(reader: ArchiveReader, fingerprint: str) -> None:
    if fingerprint and fingerprint != reader.fingerprint:
        raise BackupError(
            f"The fingerprint of the backup is {reader.fingerprint}, not {fingerprint}: it is another one."
        )


def _refuse_occupied() -> None:
    there = restore_files.occupied()
    tables = connection.introspection.table_names()
    for model, noun in ((KnowledgeBase, "knowledge bases"), (get_user_model(), "users"), (SearchRun, "searches")):
        if model._meta.db_table in tables and (number := model._default_manager.count()):
            there.append(f"{number:,} {noun}")
    if there:
        raise BackupError(
            f"{home()} is not empty: it has {', '.join(there)}. Set GRASP_HOME (and DATABASE_URL) to an empty place, "
            "or give --force, which replaces all of it."
        )


def _refuse_while_running() -> None:
    names = sorted({worker["worker"] for queue in queue_status() for worker in queue["workers"]})
    if names:
        raise BackupError(f"The site is running ({', '.join(names)}). Stop it, then restore.")


def _refuse_small_disk(reader: ArchiveReader) -> None:
    disk = reader.manifest["disk"]
    left = [path for path in (restore_files.staging(reader.fingerprint),) if path.exists()]
    there = sum(file.stat().st_size for folder in left for file in folder.rglob("*") if file.is_file())
    # Rows come with indexes of about the same size, if Postgres is on this disk, too.
    rows = 0 if connection.settings_dict["HOST"] and not connection.settings_dict["HOST"].startswith("/") else 2
    needed = disk["files"] - there + (rows * disk["rows"] if not site_schema.exists() else 0) + SPARE
    free = shutil.disk_usage(home()).free
    if needed > free:
        raise BackupError(
            f"The restore needs about {size(needed)}, and {size(free)} are free below {home()}. Free some space, or "
            "set GRASP_HOME to another disk. Nothing was changed."
        )


def _secret_key(reader: ArchiveReader) -> str:
    """Return `same`, `restored` or `other`: whether the site can read the keys that the backup holds sealed."""
    secrets = reader.manifest["secrets"]
    if secrets["key_mark"] == key_mark(settings.SECRET_KEY):
        return "same"
    return "restored" if secrets["key_inside"] else "other"
