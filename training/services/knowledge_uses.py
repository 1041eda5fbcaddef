"""knowledge_uses: the running evaluations of a knowledge base or of one release (`GRASP_KNOWLEDGE_USES`)."""

from __future__ import annotations

from search.models import KnowledgeBase, Release
from training.models import Evaluation


def running_evaluations(knowledge_base: KnowledgeBase, release: Release | None) -> list[str]:
    """Return the running evaluations as nouns with their names; of all releases if `release` is None."""
    found = Evaluation.objects.filter(status=Evaluation.Status.RUNNING, knowledge_base=knowledge_base)
    if release is not None:
        found = found.filter(release=release)
    return [f"the evaluation {pk}" for pk in found.order_by("created").values_list("pk", flat=True)]
