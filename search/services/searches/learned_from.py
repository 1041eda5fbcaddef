"""learned_from: what the ranker of a search has learned from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search.models import Artifact

RANKER = "light_artifact"
"""The option that names the ranker, of whichever stage has it."""


def knows_only_made_questions(specification: Mapping[str, Any]) -> bool:
    """Whether only questions that were made of the knowledge base have taught the ranker that a search used.

    Its probabilities are calibrated for questions like those, which people may not ask.
    """
    stages = specification.get("stages", {}).values()
    names = [stage["OPTIONS"][RANKER] for stage in stages if stage.get("OPTIONS", {}).get(RANKER)]
    told = Artifact.objects.filter(pk__in=names).values_list("configuration", flat=True) if names else []
    return any(one.get("synthesised") and not sum((one.get("splits") or {}).values()) for one in told)
