"""activate_release: switches a knowledge base to another release, or back to an earlier one."""

from __future__ import annotations

from search.management.release_command import ReleaseCommand
from search.models import KnowledgeBase, Release
from search.services.knowledge.releases import activate_release


class Command(ReleaseCommand):
    """Switches a knowledge base to one of its releases."""

    help = "Makes another release of a knowledge base the active one."

    def do(self, knowledge_base: KnowledgeBase, release: Release) -> str:
        """Activate the release."""
        activate_release(knowledge_base=knowledge_base, release=release)
        return f"{release} is now the active release of {knowledge_base.name}."
