"""delete_kb: removes a knowledge base with everything that only it has."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.models import Artifact
from search.services.knowledge.activate_release import ReleaseError
from search.services.knowledge.delete_knowledge_base import delete_knowledge_base
from search.services.knowledge.list_knowledge_bases import named


class Command(BaseCommand):
    """Exit 0 deleted, 1 not now, 2 bad arguments or not confirmed."""

    help = "Deletes a knowledge base with its releases, index files and artifacts; recorded searches stay."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("--yes", action="store_true", help="delete it; without this nothing is deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete it where that was confirmed, else say what would go."""
        try:
            knowledge_base = named(options["name"])
        except ReleaseError as error:
            raise CommandError(str(error), returncode=2) from error
        if not options["yes"]:
            owned = Artifact.objects.filter(knowledge_base=knowledge_base)
            releases, artifacts = knowledge_base.releases.count(), owned.count()
            raise CommandError(
                f"'{knowledge_base.name}' would go with {_many(releases, 'release')} and "
                f"{_many(artifacts, 'artifact')}, for good. Add --yes to delete it.",
                returncode=2,
            )
        try:
            deleted = delete_knowledge_base(knowledge_base=knowledge_base)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        kept = f" Others go on using {', '.join(deleted.kept)}." if deleted.kept else ""
        self.stdout.write(
            f"'{options['name']}' was deleted with {_many(deleted.releases, 'release')} and "
            f"{_many(deleted.artifacts, 'artifact')}.{kept}"
        )


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
