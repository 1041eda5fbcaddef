"""list_pipelines: the pipelines of the site with their versions, and the reason if one is not available."""

from __future__ import annotations

from typing import Any

from search import checks, wiring
from search.models import KnowledgeBase, PipelineVersion
from search.services.access.visitors import User, is_privileged


def list_pipelines(base: KnowledgeBase | None = None, user: User = None) -> list[dict[str, Any]]:
    """Return name, title, description, version, availability and settings of each pipeline, in the site's order.

    The version is the active one of `base`; 0 is the site's own specification. `reason` says why a pipeline is not
    available, and is null if it is. `settings_schema` is a JSON schema of the options that a search of `user` may
    set: staff and the machine itself (None) all of them, visitors those that are public, within public bounds.
    """
    active = (
        PipelineVersion.objects.filter(knowledge_base=base, active=True) if base else PipelineVersion.objects.none()
    )
    versions = {version.pipeline: version for version in active}
    return [_describe(name, versions.get(name), visitor=not is_privileged(user)) for name in wiring.pipelines()]


def pipeline_choices() -> list[dict[str, Any]]:
    """Return name, title, description and reason of each pipeline, for the pages on which one is chosen."""
    return [
        {
            "name": name,
            "title": wiring.row(name)["TITLE"],
            "description": wiring.row(name)["DESCRIPTION"],
            "reason": " ".join(checks.faults_of_pipeline(name)) or None,
        }
        for name in wiring.pipelines()
    ]


def _describe(name: str, version: PipelineVersion | None, *, visitor: bool) -> dict[str, Any]:
    row = wiring.row(name)
    faults = checks.faults_of_pipeline(name)
    described = {
        "name": name,
        "title": row["TITLE"],
        "description": row["DESCRIPTION"],
        "version": version.version if version else 0,
        "available": not faults,
        "reason": " ".join(faults) or None,
    }
    if faults:
        return described | {"settings_schema": None}
    schema = wiring.pipeline(name).settings_schema(visitor=visitor)
    for key, value in (version.options if version else {}).items():
        if key in schema["properties"]:
            schema["properties"][key]["default"] = value
    return described | {"settings_schema": schema}
