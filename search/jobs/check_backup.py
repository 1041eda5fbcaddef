"""check_backup: compare every part of a backup with its hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from search.domain.errors import Fault
from search.domain.job_kinds import JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from search.models import BackupRun
from search.services.access.rights import MAKE_BACKUPS
from search.services.backup.check_kept import CHECKED_A_SECOND, check_kept
from search.services.backup.contents import counted
from search.services.backup.errors import BackupError
from search.services.backup.kept import CHECK, FILE, file_of


@dataclass(frozen=True)
class CheckBackupJob(JobKind):
    """Reads a backup and compares every part with its hash; nothing is restored (Kind)."""

    units: ClassVar[Mapping[str, str]] = {"": "bytes"}
    targets: ClassVar[tuple[str, ...]] = ()
    offered: ClassVar[bool] = False
    right: ClassVar[str] = MAKE_BACKUPS

    file: str = argument(
        "", "The path of a backup that the site knows, as the page of backups shows it.", required=True
    )

    def parts(self) -> Mapping[str, float]:
        """Return the only part."""
        return {CHECK: 1.0}

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the part with its size, from the size of the file."""
        backup = self._backup
        return {CHECK: backup.bytes / CHECKED_A_SECOND} if backup else self.parts()

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a file that is no complete backup, or not there."""
        backup = self._backup
        if backup is None:
            return [Fault("/arguments/file", f"The site knows no complete backup {self.file[:200]!r}.")]
        return [] if file_of(backup) else [Fault("/arguments/file", f"{self.file[:200]} is not there any more.")]

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Check it; return what is inside."""
        backup = self._backup
        if backup is None:
            raise BackupError("The backup was removed.")
        counts = check_kept(backup=backup, run=run)
        return {"backup": Path(self.file).name, FILE: self.file, "inside": counted(counts), "whole": True}

    @property
    def _backup(self) -> BackupRun | None:
        """The row of the backup, if it is complete."""
        return BackupRun.objects.complete().filter(place=self.file).first()
