"""delete_kb: deletes a knowledge base with all data that only it uses."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.models import Artifact
from search.services.knowledge.delete_knowledge_base import delete_knowledge_base
from search.services.knowledge.knowledge_bases import named
from search.services.knowledge.releases import ReleaseError


class Command(BaseCommand):
    """Exit 0 if deleted, 1 if not possible now, 2 for bad arguments or without confirmation."""

    help = "Deletes a knowledge base with its releases, index files and artifacts; recorded searches stay."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("--yes", action="store_true", help="delete it; without this nothing is deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete the knowledge base if confirmed, otherwise report what would be deleted."""
        try:
            knowledge_base = named(options["name"])
        except ReleaseError as error:
            raise CommandError(str(error), returncode=2) from error
        if not options["yes"]:
            owned = Artifact.objects.filter(knowledge_base=knowledge_base)
            releases, artifacts = knowledge_base.releases.count(), owned.count()
            raise CommandError(
                f"This would delete '{knowledge_base.name}' with {_many(releases, 'release')} and "
                f"{_many(artifacts, 'artifact')}, for good. Add --yes to delete it.",
                returncode=2,
            )
        try:
            deleted = delete_knowledge_base(knowledge_base=knowledge_base)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        kept = f" Other knowledge bases still use {', '.join(deleted.kept)}." if deleted.kept else ""
        self.stdout.write(
            f"'{options['name']}' was deleted with {_many(deleted.releases, 'release')} and "
            f"{_many(deleted.artifacts, 'artifact')}.{kept}"
        )


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
