"""activate_release: another release answers, from one moment to the next; so is one rolled back."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.services.activate_release import ReleaseError, activate_release, find_release
from search.services.list_knowledge_bases import named


class Command(BaseCommand):
    """Switches a knowledge base to one of its releases."""

    help = "Lets another release of a knowledge base answer."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("release", help="number of the release, or its name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Switch."""
        try:
            knowledge_base = named(options["name"])
            release = find_release(knowledge_base=knowledge_base, release=options["release"])
        except ReleaseError as error:
            raise CommandError(str(error), returncode=2) from error
        try:
            activate_release(knowledge_base=knowledge_base, release=release)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{release} answers for {knowledge_base.name}.")
