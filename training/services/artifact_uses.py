"""artifact_uses: the running evaluations that have pinned an artifact (`GRASP_ARTIFACT_USES`)."""

from __future__ import annotations

from search.services.pipelines.delete_artifact import names
from training.models import Evaluation


def evaluations_with(artifact: str) -> list[str]:
    """Return the running evaluations whose specifications name an artifact, as nouns with their names."""
    running = Evaluation.objects.filter(status=Evaluation.Status.RUNNING)
    return [f"the evaluation {one.pk}" for one in running if names(one.specifications, artifact)]
