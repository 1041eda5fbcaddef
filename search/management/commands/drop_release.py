"""drop_release: removes a release that is not active."""

from __future__ import annotations

from search.management.release_command import ReleaseCommand
from search.models import KnowledgeBase, Release
from search.services.knowledge.releases import drop_release


class Command(ReleaseCommand):
    """Drops a release of a knowledge base."""

    help = "Drops a release that is not active, with its vectors, graph and files unless another release needs them."

    def do(self, knowledge_base: KnowledgeBase, release: Release) -> str:
        """Drop the release."""
        drop_release(knowledge_base=knowledge_base, release=release)
        return f"{release} was dropped."
