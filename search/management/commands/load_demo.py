"""load_demo: imports the demo knowledge bases that are missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

import search
from search.ingest.size import bundle_size
from search.management.console import shown
from search.models import KnowledgeBase
from search.services.knowledge.expected import import_parts
from search.services.knowledge.import_snapshot import ImportFailed, import_snapshot

FOLDER = Path(search.__file__).parent / "fixtures" / "demo"
DEMO_NAMES = ("products", "papers", "biomedical")


class Command(BaseCommand):
    """Imports the demo knowledge bases."""

    help = "Imports the demo knowledge bases that have no active release yet."

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the demo knowledge bases without an active release."""
        answering = KnowledgeBase.objects.filter(active_release__isnull=False).values_list("name", flat=True)
        missing = [name for name in DEMO_NAMES if name not in set(answering)]
        for name in missing:
            self.stderr.write(f"Importing the demo knowledge base {name}")
            try:
                with shown(sys.stderr, import_parts(bundle_size(FOLDER / name)), kind="import") as run:
                    report = import_snapshot(source=FOLDER / name, name=name, run=run)
            except ImportFailed as failure:
                raise CommandError(f"{name}: {failure}") from failure
            self.stdout.write(f"{name}: {report.nodes:,} nodes, {report.edges:,} edges, release {report.release}.")
        if not missing:
            self.stdout.write("The demo knowledge bases are there already.")
