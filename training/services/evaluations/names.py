"""names: the names of nodes in the release of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence

from search import wiring
from search.domain.errors import SearchError
from search.models.knowledge import BuildStatus
from training.models import Evaluation


def names_of(evaluation: Evaluation, ids: Sequence[str]) -> dict[str, str]:
    """Return id → name of these nodes; a node that the release does not have, or does not have any more, has none."""
    release = evaluation.release
    if release is None or release.status != BuildStatus.READY:
        return {}
    try:
        nodes = wiring.tools(release, evaluation.settings_version).nodes
        keys = [key for key in nodes.keys(list(dict.fromkeys(ids))) if key is not None]
        return {node.id: node.name for node in nodes.references(keys)}
    except (SearchError, OSError):
        return {}
