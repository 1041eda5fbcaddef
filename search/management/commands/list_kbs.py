"""list_kbs: lists the knowledge bases with their releases."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from search.services.knowledge.knowledge_bases import list_knowledge_bases


class Command(BaseCommand):
    """Lists knowledge bases."""

    help = "Lists the knowledge bases with their counts and releases; the active release is marked."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """List the knowledge bases."""
        listed = list_knowledge_bases()
        if options["json"]:
            self.stdout.write(json.dumps({"knowledge_bases": listed}, ensure_ascii=False))
            return
        if not listed:
            self.stdout.write("There are no knowledge bases yet: import_kb brings one in.")
        for entry in listed:
            self.stdout.write(f"{entry['name']}: {entry['title'] or 'no title'}")
            for release in entry["releases"]:
                mark = "*" if release["active"] else " "
                counts = f"{release['nodes']:,} nodes, {release['edges']:,} edges"
                self.stdout.write(f" {mark} {release['release']}: {release['status']}, {counts}, {release['created']}")
            if not entry["releases"]:
                self.stdout.write("   no release")
