"""convert_stark: writes a processed folder of STaRK, which holds pickles, as a bundle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.ingest.stark import ConversionFailed, convert
from search.management.console import shown

PARTS = {"Reading STaRK's files": 1.0, "Writing nodes": 4.0, "Writing edges": 1.0}


class Command(BaseCommand):
    """Converts a processed folder of STaRK."""

    help = (
        "Writes a processed folder of STaRK as a bundle that import_kb reads. The folder holds Python pickles: run "
        "this only on files that you trust. Nothing on the site ever reads a pickle."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("source", type=Path, help="folder with node_info.pkl, edge_index.pt and the others")
        parser.add_argument("folder", type=Path, metavar="dir", help="folder to write, new or empty")
        parser.add_argument("--name", help="name of the knowledge base; the folder's name when not given")

    def handle(self, *args: Any, **options: Any) -> None:
        """Convert the folder."""
        source, folder = options["source"], options["folder"]
        called = source.resolve().parent if source.name == "processed" else source.resolve()
        name = options["name"] or called.name
        if not source.is_dir():
            raise CommandError(f"{source} is not a folder.", returncode=2)
        if not BASE_NAME.fullmatch(name):
            raise CommandError(f"'{name}' is not a valid name for a knowledge base: {NAME_RULE}.", returncode=2)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty folder.", returncode=2)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with shown(sys.stderr, PARTS) as run:
                nodes, edges = convert(source, folder, name, run.report)
        except ConversionFailed as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{nodes:,} nodes and {edges:,} edges of {name} are in {folder}.")
