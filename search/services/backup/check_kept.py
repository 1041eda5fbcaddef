"""check_kept: compare a backup that the site knows with its hashes, and note in its row what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from search.domain.run_context import UNOBSERVED, RunContext
from search.models import BackupRun
from search.services.backup.errors import BackupError
from search.services.backup.kept import file_of, note_check
from search.services.backup.restore_backup import check_backup

CHECKED_A_SECOND = 150e6
"""Bytes of a file that are unpacked and hashed in a second, for the first estimate of the time."""


def check_kept(*, backup: BackupRun, run: RunContext = UNOBSERVED) -> Mapping[str, int]:
    """Compare every part with its hash, note it, and return the counts of what is inside.

    Raises BackupError with what is wrong; a file that is not there is no fault of the backup, and is not noted.
    """
    if file_of(backup) is None:
        raise BackupError(f"{backup.place} is not there any more.")
    try:
        counts = check_backup(file=Path(backup.place), fingerprint=backup.fingerprint, run=run)
    except BackupError as error:
        with run.fenced():
            note_check(backup, str(error))
        raise
    with run.fenced():
        note_check(backup, "")
    return counts
