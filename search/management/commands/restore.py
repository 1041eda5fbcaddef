"""restore: puts a backup into an empty home, or with --force in the place of what is there."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.management.console import minutes, shown
from search.services.backup.archive import ArchiveReader
from search.services.backup.contents import counted
from search.services.backup.errors import BackupError
from search.services.backup.restore_backup import RestoreReport, check_backup, expected_parts, restore_backup

KEYS = {
    "restored": "The SECRET_KEY of the backup is in place from the next start on.",
    "other": "SECRET_KEY differs from the one of the backup, which is not inside: set the old one, or sign in again "
    "and enter the keys of language models again.",
}


class Command(BaseCommand):
    """Restores a backup."""

    help = "Restores a backup into an empty GRASP_HOME; with --force it replaces everything there."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, help="the file that `backup` has written")
        parser.add_argument("--force", action="store_true", help="replace everything that is there")
        parser.add_argument("--check", action="store_true", help="compare every part with its hash, restore nothing")
        parser.add_argument("--fingerprint", default="", help="what `backup` told; refuse any other backup")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout and no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore the backup, or check it."""
        began = time.perf_counter()
        file, fingerprint = options["file"], options["fingerprint"]
        try:
            if options["check"]:
                with shown(sys.stderr, {}, quiet=options["json"]) as run:
                    counts = check_backup(file=file, fingerprint=fingerprint, run=run)
                self._tell_counts(f"{file} is whole", counts, options["json"])
                return
            with ArchiveReader(file) as reader:
                parts = expected_parts(reader)
            with shown(sys.stderr, parts, quiet=options["json"]) as run:
                report = restore_backup(file=file, force=options["force"], fingerprint=fingerprint, run=run)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self._tell(report, time.perf_counter() - began, options["json"])

    def _tell(self, report: RestoreReport, seconds: float, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.to_json() | {"seconds": round(seconds, 3)}))
            return
        self._tell_counts(
            f"{report.file} of {report.made[:16]} was restored in {minutes(seconds)}", report.counts, False
        )
        if report.upgraded:
            self.stdout.write(
                f"It was made by version {report.code_version}; its tables are those of this version now."
            )
        if report.secret_key in KEYS:
            self.stdout.write(KEYS[report.secret_key])

    def _tell_counts(self, begin: str, counts: dict[str, int], as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"whole": True, "counts": counts}))
            return
        self.stdout.write(f"{begin}: {counted(counts)}.")
