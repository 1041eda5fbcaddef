"""delete_artifact_folders: remove the files of artifacts whose row is gone."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from django.conf import settings

from search.models import Artifact
from search.services.leftovers import delete_leftovers, leftover_days


def delete_artifact_folders() -> int:
    """Delete old folders of artifacts without a row, and return their number.

    A deleted knowledge base leaves such folders, and a process that was killed before the row was committed.
    """
    return delete_leftovers(Path(settings.GRASP_HOME) / "artifacts", leftover_days(), _artifacts)


def _artifacts(names: Collection[str]) -> set[str]:
    return set(Artifact.objects.filter(pk__in=list(names)).values_list("pk", flat=True))
