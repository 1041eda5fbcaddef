"""export_kb: writes a knowledge base as a bundle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.management.console import shown
from search.services.knowledge.expected import base_size, export_parts
from search.services.knowledge.export_snapshot import ExportFailed, export_snapshot
from search.services.knowledge.knowledge_bases import named
from search.services.knowledge.releases import ReleaseError


class Command(BaseCommand):
    """Exports a knowledge base."""

    help = "Writes the active release of a knowledge base as a bundle that import_kb reads back."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("folder", type=Path, metavar="dir", help="folder to write, new or empty")

    def handle(self, *args: Any, **options: Any) -> None:
        """Export the knowledge base."""
        try:
            knowledge_base = named(options["name"])
        except ReleaseError as error:
            raise CommandError(str(error), returncode=2) from error
        try:
            with shown(sys.stderr, export_parts(base_size(knowledge_base))) as run:
                snapshot = export_snapshot(knowledge_base=knowledge_base, folder=options["folder"], run=run)
        except ExportFailed as error:
            raise CommandError(str(error)) from error
        counts = f"{snapshot.nodes:,} nodes and {snapshot.edges:,} edges"
        self.stdout.write(f"{counts} of {knowledge_base.active_release} are in {options['folder']}.")
