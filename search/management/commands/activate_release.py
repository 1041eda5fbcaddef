"""activate_release: another release answers, from one moment to the next; so is one rolled back."""

from __future__ import annotations

from search.management.release_command import ReleaseCommand
from search.models import KnowledgeBase, Release
from search.services.knowledge.activate_release import activate_release


class Command(ReleaseCommand):
    """Switches a knowledge base to one of its releases."""

    help = "Lets another release of a knowledge base answer."

    def do(self, knowledge_base: KnowledgeBase, release: Release) -> str:
        """Switch."""
        activate_release(knowledge_base=knowledge_base, release=release)
        return f"{release} answers for {knowledge_base.name}."
