"""Pin: the release, settings and specification of all searches of one evaluation, fixed when it starts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from search.models import PipelineVersion, Release, SearchRun
from search.models.pipelines import specification_hash


@dataclass(frozen=True)
class Pin:
    """The release, the version of its knowledge base's settings and the specification that a search has to use.

    `evaluation` is the id of what the searches belong to, None for a search that belongs to nothing.
    """

    release: Release
    settings_version: int
    pipeline: str
    pipeline_version: PipelineVersion | None
    specification: Mapping[str, Any]
    evaluation: UUID | None = None

    @property
    def specification_hash(self) -> str:
        """The fingerprint of the specification."""
        return specification_hash(dict(self.specification))

    def to_json(self) -> dict[str, Any]:
        """Return the pin as JSON for a report."""
        return {
            "release": self.release.name,
            "settings_version": self.settings_version,
            "version": self.pipeline_version.version if self.pipeline_version else 0,
            "specification": dict(self.specification),
            "specification_hash": self.specification_hash,
        }

    def apply(self, run: SearchRun) -> None:
        """Set the run's release, settings and specification to those of this pin."""
        base = self.release.knowledge_base
        run.knowledge_base, run.knowledge_base_name = base, base.name
        run.release, run.release_name = self.release, self.release.name
        run.settings_version = self.settings_version
        run.pipeline, run.pipeline_version = self.pipeline, self.pipeline_version
        run.pipeline_number = self.pipeline_version.version if self.pipeline_version else 0
        run.specification, run.specification_hash = dict(self.specification), self.specification_hash
        run.evaluation = self.evaluation


def mixed(pins: Mapping[str, Pin], evaluation: UUID, also: Mapping[str, Collection[str]] | None = None) -> str:
    """Say what searches of an evaluation used beside what was pinned; an empty string where all used just that.

    `also` holds, by pipeline, the hashes of further specifications that belong to the evaluation, such as those that
    ask a question of what was learned without it. Reads the rows of the searches, so that it holds for whatever wrote
    them.
    """
    used = SearchRun.objects.filter(evaluation=evaluation).order_by().values_list(
        "pipeline", "release_name", "settings_version", "specification_hash"
    )  # fmt: skip
    for pipeline, release, settings_version, hashed in used.distinct():
        pin = pins.get(pipeline)
        if pin is None:
            return f"Searches with {pipeline} are among those of this evaluation, which does not evaluate it."
        if hashed in (also or {}).get(pipeline, ()):
            hashed = pin.specification_hash
        found = (release, settings_version, hashed)
        wanted = (pin.release.name, pin.settings_version, pin.specification_hash)
        names = ("release", "version of the settings", "specification")
        for name, one, other in zip(names, found, wanted, strict=True):
            if one != other:
                return (
                    f"Searches with {pipeline} used two of one {name}: {other}, which the evaluation is of, and {one}. "
                    "Figures over both would say nothing; evaluate again."
                )
    return ""
