"""backup: saves what cannot be recreated in one file, while the site goes on."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.management.console import minutes, shown
from search.services.backup.contents import counted
from search.services.backup.errors import BackupError, size
from search.services.backup.make_backup import expected_parts, make_backup


class Command(BaseCommand):
    """Makes a backup."""

    help = "Writes everything that is not rebuilt for free into one file; searches go on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, help="the file to write; it must not exist")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout and no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the backup."""
        began = time.perf_counter()
        try:
            with shown(sys.stderr, expected_parts(), kind="backup", quiet=options["json"]) as run:
                report = make_backup(file=options["file"], run=run)
        except BackupError as error:
            raise CommandError(str(error)) from error
        seconds = time.perf_counter() - began
        if options["json"]:
            self.stdout.write(json.dumps(report.to_json() | {"seconds": round(seconds, 3)}))
            return
        kept = (
            f" ({report.kept:,} of {report.members:,} parts were there from an earlier attempt)" if report.kept else ""
        )
        inside = counted(report.counts)
        self.stdout.write(f"{report.file}: {size(report.bytes)} in {minutes(seconds)}{kept}: {inside}.")
        key = "the SECRET_KEY of this home, " if report.secret_key else ""
        self.stdout.write(
            f"It holds secrets ({key}hashes of passwords and tokens, sealed keys of language models): only its owner "
            "may read it. Keep it as carefully as the site itself."
        )
        if not report.secret_key:
            self.stdout.write("SECRET_KEY is set in the environment and is not inside; keep it elsewhere.")
        self.stdout.write(f"Its fingerprint is {report.fingerprint}; `restore --fingerprint` checks it.")
