"""describe_version: a version of a pipeline as JSON, for the API and for commands."""

from __future__ import annotations

from typing import Any

from search.models import PipelineVersion
from search.services.pipelines.check_artifacts import named_artifacts


def describe_version(version: PipelineVersion) -> dict[str, Any]:
    """Return a version with its options, the artifacts that they name, and whether searches use it."""
    return {
        "knowledge_base": version.knowledge_base.name,
        "pipeline": version.pipeline,
        "version": version.version,
        "options": version.options,
        "artifacts": named_artifacts(version.pipeline, version.options),
        "active": version.active,
        "note": version.note,
        "author": version.author.get_username() if version.author else None,
        "created": version.created,
        "activated": version.activated,
    }


def describe_in_use(version: PipelineVersion | None) -> dict[str, Any]:
    """Return the version that searches use from now on; None stands for the site's specification, version 0."""
    return {
        "version": version.version if version else 0,
        "in_use": describe_version(version) if version else None,
    }
