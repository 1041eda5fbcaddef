"""compare_versions: what a version of a pipeline changes, beside the site's defaults and the version before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search import wiring
from search.domain.differences import MISSING, differences
from search.domain.errors import InvalidRequest
from search.models import PipelineVersion


@dataclass(frozen=True, slots=True)
class SettingCompared:
    """One setting: the site's value, that of the version before, and that of this version.

    A value is `MISSING` where the chosen variant does not have the setting.
    """

    name: str
    default: Any
    before: Any
    now: Any

    @property
    def changed(self) -> bool:
        """Whether this version has another value than the version before."""
        return bool(self.now != self.before)


@dataclass(frozen=True, slots=True)
class ComparedVersions:
    """A version beside the one before it (None: this is the first), with every setting that differs anywhere."""

    before: PipelineVersion | None
    settings: tuple[SettingCompared, ...]


def compare_with_before(version: PipelineVersion) -> ComparedVersions:
    """Return the settings in which a version differs from the site's defaults or from the version before it.

    The first version is compared with the defaults alone. A version whose options no longer fit the site is compared
    by its options as they are stored.
    """
    same = PipelineVersion.objects.filter(knowledge_base=version.knowledge_base_id, pipeline=version.pipeline)
    before = same.filter(version__lt=version.version).order_by("-version").first()
    default = settings_of(version.pipeline, {})
    former = settings_of(version.pipeline, before.options if before else {})
    now = settings_of(version.pipeline, version.options)
    names = dict.fromkeys(
        difference.path for other in (default, former) for difference in differences(other, now)
    )  # fmt: skip
    return ComparedVersions(
        before,
        tuple(
            SettingCompared(name, *(values.get(name, MISSING) for values in (default, former, now)))
            for name in sorted(names)
        ),
    )


def settings_of(pipeline: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return every setting of a pipeline with these options: name → value, and stage → variant.

    If the site does not have the pipeline, or the options do not fit it, only the options are returned.
    """
    if pipeline not in wiring.pipelines():
        return dict(options)
    known = wiring.pipeline(pipeline)
    try:
        known.specification(options)
    except InvalidRequest:
        return dict(options)
    chosen = {stage: options[stage] for stage in known.variants() if stage in options}
    values = known.defaults(chosen) | dict(options)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
