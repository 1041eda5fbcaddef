"""drop_release: removes a release that does not answer any more."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.services.activate_release import ReleaseError, find_release
from search.services.drop_release import drop_release
from search.services.list_knowledge_bases import named


class Command(BaseCommand):
    """Drops a release of a knowledge base."""

    help = "Drops a release that does not answer, with its vectors, graph and files where nothing else needs them."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("release", help="number of the release, or its name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Drop."""
        try:
            knowledge_base = named(options["name"])
            release = find_release(knowledge_base=knowledge_base, release=options["release"])
        except ReleaseError as error:
            raise CommandError(str(error), returncode=2) from error
        try:
            drop_release(knowledge_base=knowledge_base, release=release)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{release} was dropped.")
