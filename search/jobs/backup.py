"""backup: save what cannot be recreated in one file of the folder of backups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from django.utils import timezone

from search.domain.errors import Fault
from search.domain.job_kinds import JobKind, JobTarget, Needs, argument
from search.domain.run_context import RunContext
from search.services.access.rights import MAKE_BACKUPS
from search.services.backup.check_kept import CHECKED_A_SECOND, check_kept
from search.services.backup.contents import counted
from search.services.backup.errors import BackupError, size
from search.services.backup.kept import CHECK, FILE, backup_folder, completed, made_folder, new_file, remove_older
from search.services.backup.make_backup import FILES, ROWS, expected_parts, least_bytes, make_backup


@dataclass(frozen=True)
class BackupJob(JobKind):
    """Saves what cannot be recreated in one file, while searches and jobs go on (Kind)."""

    units: ClassVar[Mapping[str, str]] = {"": "bytes"}
    targets: ClassVar[tuple[str, ...]] = ()
    right: ClassVar[str] = MAKE_BACKUPS

    keep: int = argument(
        0, "Number of good backups to keep in the folder, this one included; older ones are removed. 0 keeps all.",
        low=0, high=1_000,
    )  # fmt: skip
    check: bool = argument(True, "Read the backup once it is written, and compare every part with its hash.")

    def parts(self) -> Mapping[str, float]:
        """Return the parts with their shares of the time."""
        return {FILES: 0.5, ROWS: 0.5} | ({CHECK: 0.3} if self.check else {})

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the parts with their sizes, from the size of the site."""
        checked = {CHECK: least_bytes() / CHECKED_A_SECOND} if self.check else {}
        return expected_parts() | checked

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse while there is no folder to write into."""
        try:
            made_folder()
        except BackupError as error:
            return [Fault("", str(error))]
        return ()

    def needs(self, target: JobTarget) -> Needs:
        """Return the disk that the file takes at least."""
        return Needs(disk=least_bytes(), folder=str(backup_folder()))

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Make the backup, check it, remove older ones; return its name, size and content.

        A later attempt goes on with the same file.
        """
        made_folder()
        file = Path(run.notes.get(FILE) or new_file(timezone.now()))
        if run.notes.get(FILE) is None:
            with run.fenced():
                run.notes.put(FILE, str(file))
        if not file.exists():
            make_backup(file=file, run=run)
        backup = completed(file)
        if self.check:
            check_kept(backup=backup, run=run)
        with run.fenced():
            removed = remove_older(backup, self.keep) if self.keep else ()
        return {
            "backup": file.name, FILE: str(file), "size": size(backup.bytes), "inside": counted(backup.counts),
            "checked": "every part is as it was written" if self.check else "no", "removed": ", ".join(removed),
            "fingerprint": backup.fingerprint,
        }  # fmt: skip
