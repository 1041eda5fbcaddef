"""Pin: the release, settings and specification of all searches of one evaluation, fixed when it starts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from search.domain.options import assigned
from search.models import PipelineVersion, Release, SearchRun
from search.models.pipelines import specification_hash


@dataclass(frozen=True)
class PipelineChoice:
    """A pipeline to evaluate: its name, a version (None: the active one), and options as `{"stage.option": value}`.

    `label` names it in reports and files.
    """

    pipeline: str
    version: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    @classmethod
    def parse(cls, text: str) -> PipelineChoice:
        """Return the choice that a text describes: `pipeline[@version] [stage.option=value]…`; the text is its label.

        A version that is not a whole number becomes -1, which no pipeline has. Raises InvalidRequest for options of
        another form.
        """
        first, *rest = text.split() or [""]
        pipeline, at, version = first.partition("@")
        number = (int(version) if version.isdecimal() and len(version) < 10 else -1) if at else None
        return cls(pipeline, number, assigned(rest), " ".join([first, *rest]))


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
            "pipeline": self.pipeline,
            "release": self.release.name,
            "settings_version": self.settings_version,
            "version": self.pipeline_version.version if self.pipeline_version else 0,
            "specification": dict(self.specification),
            "specification_hash": self.specification_hash,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], release: Release, evaluation: UUID | None) -> Pin:
        """Return the pin that `to_json` wrote, of this release. A version that was deleted in the meantime is None."""
        of_base = PipelineVersion.objects.filter(knowledge_base=release.knowledge_base, pipeline=data["pipeline"])
        version = of_base.filter(version=data["version"]).first()
        return cls(release, data["settings_version"], data["pipeline"], version, data["specification"], evaluation)

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


def pins_as_json(pins: Mapping[str, Pin]) -> list[dict[str, Any]]:
    """Return pins by label as JSON, in their order; `pins_from_json` reads it."""
    return [{"label": label} | pin.to_json() for label, pin in pins.items()]


def pins_from_json(data: Sequence[Mapping[str, Any]], release: Release, evaluation: UUID | None) -> dict[str, Pin]:
    """Return the pins that `pins_as_json` wrote, of this release and for this evaluation."""
    return {one["label"]: Pin.from_json(one, release, evaluation) for one in data}


def mixed(pins: Mapping[str, Pin], evaluation: UUID, also: Mapping[str, Collection[str]] | None = None) -> str:
    """Return a sentence about a search of an evaluation that did not use what was pinned; empty if there is none.

    `pins` are the evaluation's by label. `also` holds, by label, the hashes of further specifications that belong to
    the evaluation, such as those that search a question with a scorer fitted without it. The rows of the searches are
    read, so that the check holds for every writer of rows.
    """
    allowed: dict[str, dict[str, None]] = {}
    for label, pin in pins.items():
        hashes = (pin.specification_hash, *(also or {}).get(label, ()))
        allowed.setdefault(pin.pipeline, {}).update(dict.fromkeys(hashes))
    used = SearchRun.objects.filter(evaluation=evaluation).order_by().values_list(
        "pipeline", "release_name", "settings_version", "specification_hash"
    )  # fmt: skip
    for pipeline, release, settings_version, hashed in used.distinct():
        if pipeline not in allowed:
            return f"The evaluation contains searches with {pipeline}, which is not one of its pipelines."
        pin = next(pin for pin in pins.values() if pin.pipeline == pipeline)
        wanted_hash = hashed if hashed in allowed[pipeline] else pin.specification_hash
        found = (release, settings_version, hashed)
        wanted = (pin.release.name, pin.settings_version, wanted_hash)
        names = ("release", "version of the settings", "specification")
        for name, one, other in zip(names, found, wanted, strict=True):
            if one != other:
                return (
                    f"Searches with {pipeline} used another {name} than the evaluation: {one} instead of {other}. "
                    "Their results cannot be compared; evaluate again."
                )
    return ""
