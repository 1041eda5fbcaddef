"""What the commands that do something with one release share."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.models import KnowledgeBase, Release
from search.services.knowledge.activate_release import ReleaseError, find_release
from search.services.knowledge.list_knowledge_bases import named


class ReleaseCommand(BaseCommand):
    """Finds the release that is named; a subclass says what is done with it."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("release", help="number of the release, or its name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Find the release and do it. Exit 2 where there is none such, 1 where it cannot be done."""
        try:
            knowledge_base = named(options["name"])
            release = find_release(knowledge_base=knowledge_base, release=options["release"])
        except ReleaseError as error:
            raise CommandError(str(error), returncode=2) from error
        try:
            done = self.do(knowledge_base, release)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(done)

    def do(self, knowledge_base: KnowledgeBase, release: Release) -> str:
        """Do it and return the sentence that says so. Raises ReleaseError."""
        raise NotImplementedError
