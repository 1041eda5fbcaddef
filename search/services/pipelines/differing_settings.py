"""differing_settings: the settings in which two specifications of pipelines differ, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search import wiring
from search.domain.differences import MISSING, differences
from search.text import words

VARIANT = "variant"
"""What a label calls the choice of a stage's variant, and the class of a stage without variants."""


@dataclass(frozen=True, slots=True)
class Differing:
    """One setting with the values of both sides, `MISSING` where a side does not have it.

    `key` is its name in files, such as `fuse.k`; `pipelines` are those of both sides. With `whole`, only one side has
    the stage, which is the setting, and its value there is the stage's title.
    """

    key: str
    pipelines: tuple[str, str]
    before: Any
    after: Any
    whole: bool = False

    @property
    def label(self) -> str:
        """The setting for people, such as `Fuse: k`."""
        return setting_label(self.pipelines[self.after is not MISSING], self.key)

    @property
    def about(self) -> str:
        """What the setting does; empty if neither pipeline has it any more."""
        return next(filter(None, (setting_about(name, self.key) for name in self.pipelines)), "")


def setting_label(pipeline: str, key: str) -> str:
    """Return the label of a setting, such as `Fuse: k` of `fuse.k`; of a stage, `fuse`, that of its choice."""
    stage, _, option = key.partition(".")
    return f"{_title(pipeline, stage)}: {words(option.replace('.', ' ')) or VARIANT}"


def setting_about(pipeline: str, key: str) -> str:
    """Return what a setting of a pipeline does; empty if the site does not have it."""
    known = wiring.pipeline_or_none(pipeline)
    return str(known.settings_schema()["properties"].get(key, {}).get("description", "")) if known else ""


def differing_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Differing]:
    """Return what differs between two specifications, in the order of the steps: stored ones have lost it.

    Where the variants of a stage differ, the names of their classes are left out: they say the same.
    """
    pipelines = str(before.get("pipeline", "")), str(after.get("pipeline", ""))
    stages = [side.get("stages", {}) for side in (before, after)]
    found = []
    for one in differences(*stages):
        stage, _, rest = one.path.partition(".")
        if rest == "BACKEND" and len({side[stage].get("VARIANT") for side in stages}) > 1:
            continue
        if not rest:
            a, b = (_title(pipelines[at], stage) if stage in stages[at] else MISSING for at in (0, 1))
            found.append(Differing(stage, pipelines, a, b, whole=True))
            continue
        key = f"{stage}.{rest.removeprefix('OPTIONS.')}" if rest.startswith("OPTIONS.") else stage
        found.append(Differing(key, pipelines, one.before, one.after))
    order = [stage for steps in sorted(map(_steps, pipelines), key=len, reverse=True) for stage in steps]
    return sorted(found, key=lambda one: order.index(at) if (at := one.key.partition(".")[0]) in order else len(order))


def _steps(pipeline: str) -> dict[str, str]:
    """Return the stages of a pipeline with their titles, in order; none if the site does not have it."""
    known = wiring.pipeline_or_none(pipeline)
    return {part.name: part.title for part in known.flow} if known else {}


def _title(pipeline: str, stage: str) -> str:
    return _steps(pipeline).get(stage) or words(stage).capitalize()
