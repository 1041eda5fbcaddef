"""Shared by the commands that act on one release."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.models import KnowledgeBase, Release
from search.services.knowledge.knowledge_bases import named
from search.services.knowledge.releases import ReleaseError, find_release


class ReleaseCommand(BaseCommand):
    """Finds the named release; a subclass defines the action."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("release", help="number of the release, or its name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Find the release and act on it. Exit 2 if there is no such release, 1 if the action is not possible."""
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
        """Act on the release and return a sentence that reports it. Raises ReleaseError."""
        raise NotImplementedError
