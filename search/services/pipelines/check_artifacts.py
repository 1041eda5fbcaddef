"""check_artifacts: may searches of a knowledge base use the artifacts that a version of a pipeline names?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from search.artifact_files import CONFIGURATION, RefusedArtifact, check_folder
from search.domain.errors import Fault, nearest, pointer
from search.models import Artifact, KnowledgeBase


def options_with_artifacts(pipeline: str) -> dict[str, str]:
    """Return the options of a pipeline that name an artifact → the kind of artifact that each takes."""
    rows: Mapping[str, Mapping[str, Any]] = settings.GRASP_LEARNERS
    return {row["OPTION"]: kind for kind, row in rows.items() if row["PIPELINE"] == pipeline}


def named_artifacts(pipeline: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return option → id of the artifact that it names, for the options that name one."""
    return {option: str(options[option]) for option in options_with_artifacts(pipeline) if options.get(option)}


def artifact_faults(knowledge_base: KnowledgeBase, pipeline: str, options: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for each artifact that the options name and that searches of the knowledge base cannot use.

    An artifact must exist, be of the kind that its option takes, have the files that were registered, and have been
    learned over the vectors of the encoder that the active release has.
    """
    kinds = options_with_artifacts(pipeline)
    found = Artifact.objects.in_bulk(list(named_artifacts(pipeline, options).values()))
    faults = []
    for option, name in named_artifacts(pipeline, options).items():
        at, artifact = pointer("settings", option), found.get(name)
        if artifact is None:
            known = list(Artifact.objects.filter(kind=kinds[option]).values_list("pk", flat=True)[:20])
            message = f"There is no trained part {name[:80]!r}; it was deleted, or never made here."
            faults.append(Fault(at, message, nearest(name, known)))
        elif artifact.kind != kinds[option]:
            message = f"{name} is a {artifact.kind}, and {option} takes a {kinds[option]}."
            faults.append(Fault(at, message))
        elif reason := unusable(artifact, knowledge_base):
            faults.append(Fault(at, reason))
    return faults


def unusable(artifact: Artifact, knowledge_base: KnowledgeBase | None = None) -> str:
    """Return a sentence that says why an artifact cannot be used (for this knowledge base), or an empty string."""
    try:
        check_folder(artifact.directory, artifact.content_hash)
        configuration = json.loads((artifact.directory / CONFIGURATION).read_bytes())
    except FileNotFoundError:
        return f"The files of the trained part {artifact.pk} are not on this machine."
    except RefusedArtifact as error:
        return f"The trained part {artifact.pk} cannot be used: {error}."
    except (OSError, ValueError) as error:
        return f"The trained part {artifact.pk} cannot be read: {error}."
    learned, used = configuration.get("encoder"), _encoder_of(knowledge_base)
    if learned and used and learned != used:
        where = f"the active release of {knowledge_base}"
        return f"The trained part {artifact.pk} was learned over vectors of {learned}, and {where} has those of {used}."
    return ""


def _encoder_of(knowledge_base: KnowledgeBase | None) -> str:
    release = knowledge_base.active_release if knowledge_base else None
    return release.vector_set.encoder if release is not None and release.vector_set is not None else ""
