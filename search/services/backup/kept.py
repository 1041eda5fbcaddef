"""The backups that the site knows: what has become of each file, their check, and their removal.

Those of jobs lie in `GRASP_BACKUP_FOLDER`; commands may write theirs anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db.models import F
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from search.domain.errors import Fault, InvalidRequest
from search.models import BackupRun, Job
from search.services.access.rights import REMOVE_BACKUPS, check_may
from search.services.access.visitors import User
from search.services.audit.note import note
from search.services.backup.archive import ArchiveReader, being_written, partial_files
from search.services.backup.errors import BackupError

SUFFIX = ".grasp"
CHECK = "Check"
"""The part of a job that compares every part of a backup with its hash."""
FILE = "file"
"""The note, and the value of the result, in which the job of a backup keeps the path of its file."""


class BackupKept(InvalidRequest):
    """The backup is not removed; the text says why."""

    def __init__(self, message: str) -> None:
        super().__init__([Fault("", message)])


def backup_folder() -> Path:
    """Return the folder of the backups that jobs make."""
    return Path(settings.GRASP_BACKUP_FOLDER).absolute()


def made_folder() -> Path:
    """Return the folder of backups, and make it for its owner alone if it is not there. Raises BackupError."""
    folder = backup_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise BackupError(
            f"{folder} cannot be made: {error.strerror}. GRASP_BACKUP_FOLDER names the folder of backups."
        ) from error
    return folder


def new_file(at: datetime) -> Path:
    """Return the path of a backup that begins now; its name has the time in UTC."""
    return backup_folder() / f"site-{at:%Y-%m-%d-%H%M%S}{SUFFIX}"


def file_of(backup: BackupRun) -> Path | None:
    """Return the file of a complete backup, or None if it is not there."""
    path = Path(backup.place)
    return path if backup.finished and not backup.error and path.is_file() else None


def in_folder(backup: BackupRun) -> bool:
    """Whether a backup lies in the folder of backups."""
    return Path(backup.place).parent == backup_folder()


def job_of(backup: BackupRun) -> Job | None:
    """Return the newest job that makes or has made a backup, if one does."""
    return Job.objects.filter(kind="backup", **{f"notes__{FILE}": backup.place}).order_by("-created").first()


def state_of(backup: BackupRun) -> str:
    """Return what has become of a backup.

    `done`, `damaged` (a check has found it), `gone` (its file), `failed`, `cancelled`, `running`, or `interrupted`: its
    process has ended without a word.
    """
    if backup.finished is None:
        return "running" if being_written(Path(backup.place)) else "interrupted"
    if backup.error:
        return "cancelled" if backup.error == BackupRun.CANCELLED else "failed"
    if not Path(backup.place).is_file():
        return "gone"
    return "damaged" if backup.fault else "done"


def left_bytes(backup: BackupRun) -> int:
    """Return the bytes of the file of a backup that has not been completed."""
    partial = partial_files(Path(backup.place))[0]
    return partial.stat().st_size if partial.is_file() else 0


def note_found() -> None:
    """Take up the complete backups of the folder that no row names: copied there, or made before a restore."""
    folder = backup_folder()
    if not folder.is_dir():
        return
    known = set(BackupRun.objects.complete().values_list("place", flat=True))
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        if file.is_file() and str(file) not in known:
            _noted(file)


def completed(file: Path) -> BackupRun:
    """Return the row of a complete file."""
    row = BackupRun.objects.complete().filter(place=str(file)).first()
    return row or _noted(file)


def _noted(file: Path) -> BackupRun:
    row = BackupRun.objects.filter(place=str(file)).first() or BackupRun.objects.create(place=str(file))
    row.error, row.finished = "", timezone.now()
    try:
        with ArchiveReader(file) as reader:
            _take(row, reader)
    except (BackupError, LookupError, TypeError) as error:
        row.bytes, row.checked = file.stat().st_size, timezone.now()
        row.fault = str(error) if isinstance(error, BackupError) else f"{file} has a manifest that no backup has."
    # A row that is made long after its file has the time of the file.
    row.started = min(row.started, row.finished)
    row.save()
    return row


def _take(row: BackupRun, reader: ArchiveReader) -> None:
    """Fill a row with what the manifest of its file says."""
    manifest = reader.manifest
    row.finished = parse_datetime(str(manifest["made"])) or row.finished or timezone.now()
    row.bytes, row.fingerprint, row.counts = reader.path.stat().st_size, reader.fingerprint, dict(manifest["counts"])
    row.code_version = str(manifest.get("code_version", ""))[:100]
    row.key_inside = bool(manifest["secrets"]["key_inside"])


def settle_restored(reader: ArchiveReader) -> None:
    """Complete what the restored tables say of the backup itself: it was being made at the moment that they show.

    Otherwise a worker would go on with its job, and make it once more.
    """
    record = reader.manifest.get("record")
    row = BackupRun.objects.filter(pk=record if isinstance(record, int) else 0, finished=None).first()
    if row is None:
        return
    made_as = row.place
    _take(row, reader)
    row.place = str(reader.path.absolute())[:500]
    row.save()
    Job.objects.filter(kind="backup", state__in=Job.LIVE, **{f"notes__{FILE}": made_as}).update(
        state=Job.State.DONE, finished=row.finished, lease_until=None, fence=F("fence") + 1, changes=F("changes") + 1,
        result={"backup": Path(row.place).name, FILE: row.place},
    )  # fmt: skip


def note_check(backup: BackupRun, fault: str) -> None:
    """Note that a backup was compared with its hashes now, and what was wrong; empty if nothing was."""
    BackupRun.objects.filter(pk=backup.pk).update(checked=timezone.now(), fault=fault)


def refusal(backup: BackupRun) -> str:
    """Return why a backup cannot be removed now, or an empty string."""
    if state_of(backup) == "running":
        return "It is being made now; cancel its job first."
    if not in_folder(backup) and Path(backup.place).exists():
        return f"It lies outside of {backup_folder()}, the folder of backups; delete it where it is."
    return ""


def remove_backup(backup: BackupRun, *, user: User) -> None:
    """Delete the file of a backup, what an unfinished one has left, and its row.

    Raises NotAllowed; BackupKept while it is made, for one outside of the folder, or if its folder refuses.
    """
    check_may(user, REMOVE_BACKUPS, "remove backups")
    if why := refusal(backup):
        raise BackupKept(why)
    path = Path(backup.place)
    try:
        for file in (path, *partial_files(path)) if in_folder(backup) else ():
            file.unlink(missing_ok=True)
    except OSError as error:
        raise BackupKept(f"{path.name} cannot be deleted: {error.strerror}.") from error
    note("backup removed", backup, name=path.name, user=user, bytes=backup.bytes)
    backup.delete()


def remove_older(newest: BackupRun, keep: int) -> Sequence[str]:
    """Remove the older backups of the folder until `keep` good ones are left, and what failed before the newest.

    Returns their names. What is being written, and what a person has put elsewhere, stays.
    """
    older = [one for one in BackupRun.objects.filter(started__lt=newest.started) if in_folder(one)]
    whole = [one.pk for one in BackupRun.objects.good().order_by("-started") if in_folder(one) and file_of(one)]
    removed = []
    for one in older:
        if one.pk not in whole[:keep] and one.pk != newest.pk and not refusal(one):
            remove_backup(one, user=None)
            removed.append(Path(one.place).name)
    return removed
