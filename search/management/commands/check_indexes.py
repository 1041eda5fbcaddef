"""check_indexes: compares the index files of this machine with what was built, byte by byte."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.adapters.index_files.store import StoreFailed
from search.artifact_files import RefusedArtifact
from search.services.backup.errors import size
from search.services.index_store import send_again
from search.services.knowledge.index_files import check_releases


class Command(BaseCommand):
    """Checks the index files of every release."""

    help = "Compares the index files of every release on this machine with the hashes of what was built."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--fetch", action="store_true", help="fetch what is wrong from another machine")
        parser.add_argument(
            "--send", action="store_true", help="send everything to GRASP_INDEX_STORE again, whatever is there"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check; exit code 1 if something is wrong."""
        found = list(check_releases(fetch=options["fetch"]))
        wrong = [one for one in found if one.fault]
        if options["json"]:
            self.stdout.write(json.dumps({"releases": [asdict(one) for one in found], "wrong": len(wrong)}))
        else:
            for one in found:
                mark = "*" if one.active else " "
                self.stdout.write(f"{mark} {one.release}: {size(one.bytes)}, {one.fault or 'as built'}")
        if wrong:
            names = ", ".join(dict.fromkeys(one.release.rpartition("-")[0] for one in wrong))
            raise CommandError(
                f"{len(wrong)} of {len(found)} releases have damaged or missing index files. `check_indexes --fetch` "
                f"fetches them from another machine; `manage.py index_kb NAME` builds them ({names})."
            )
        if options["send"]:
            try:
                sent = send_again()
            except (StoreFailed, RefusedArtifact) as error:
                raise CommandError(str(error)) from error
            if not options["json"]:
                self.stdout.write(f"{sent} files sent.")
