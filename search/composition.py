"""Builds a pipeline from its row in the settings: layers of options → specification → stages with their tools.

A stage is a frozen dataclass. Its fields declared by `search.domain.options.option` are settings, and its fields
declared by `part` are inner stages. Every other field has the name of the tool that fills it.
A row names the class of a stage, or several variants of it:

    "retrieve": {"BACKEND": "search.stages.retrieve.Hybrid", "OPTIONS": {"depth": 50}}
    "retrieve": {"VARIANTS": {"hybrid": {"BACKEND": …}, "bm25": {"BACKEND": …}}, "DEFAULT": "hybrid"}
    "rerank": {"VARIANTS": {"none": None, "light": {"BACKEND": …}}, "DEFAULT": "none"}

An option with the stage's name chooses the variant (`retrieve=bm25`); `None` is a variant without the stage.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from django.utils.module_loading import import_string

from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.domain.flow import StageField, flow_of
from search.domain.options import (
    assembled,
    option_fault,
    option_schema,
    options_of,
    refused_to_visitors,
    tools_of,
    typed,
)
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Trace
from search.fields.names import title as title_of_field
from search.text import words

Specification = dict[str, Any]
PipelineRow = Mapping[str, Any]
OptionField = dataclasses.Field[Any]
Choices = Mapping[str, str]
ONLY_VARIANT = ""
"""Variant name used for a stage without variants."""


def variants_of(row: PipelineRow) -> Mapping[str, PipelineRow | None]:
    """Return variant name → row; for a stage without variants, `ONLY_VARIANT` → the row itself."""
    variants: Mapping[str, PipelineRow | None] = row.get("VARIANTS", {ONLY_VARIANT: row})
    return variants


def _options(row: PipelineRow | None) -> dict[str, OptionField]:
    """Return the options of a stage's class by name; nothing for `None`, the variant without the stage."""
    return {} if row is None else options_of(import_string(row["BACKEND"]))


@dataclass(frozen=True)
class Pipeline:
    """A pipeline of the settings: its function (`search`), the dataclass of its stages, and the row of each stage.

    `titles` maps the names of the lists in its fusion to their titles on pages.
    """

    name: str
    title: str
    description: str
    search: Callable[[Question, Any, Trace], Ranking]
    stages: type
    rows: Mapping[str, PipelineRow]
    titles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def flow(self) -> tuple[StageField, ...]:
        """The stages in order, each with its role and its words on pages."""
        return flow_of(self.stages)

    def of_role(self, *roles: str) -> list[str]:
        """Return the names of the configured stages that have one of these roles, in order."""
        return [part.name for part in self.flow if part.role in roles and part.name in self.rows]

    def variants(self) -> dict[str, tuple[str, ...]]:
        """Return stage → names of its variants, for the stages that have variants."""
        return {stage: tuple(row["VARIANTS"]) for stage, row in self.rows.items() if "VARIANTS" in row}

    def options(self) -> dict[str, OptionField]:
        """Return every option of every variant as `stage.option` → its field.

        If several variants have an option of the same name, the field comes from the site's default variant if it has
        the option, else from the first variant that has it.
        """
        found: dict[str, OptionField] = {}
        for stage, row in self.rows.items():
            variants = variants_of(row)
            for name in dict.fromkeys([_default(row), *variants]):
                for option, declared in _options(variants[name]).items():
                    found.setdefault(f"{stage}.{option}", declared)
        return found

    def tools(self) -> set[str]:
        """Return the names of the tools that the stages need, over all variants."""
        return {
            tool
            for row in self.rows.values()
            for variant in variants_of(row).values()
            if variant is not None
            for tool in tools_of(import_string(variant["BACKEND"]))
        }

    def defaults(self, chosen: Choices | None = None) -> dict[str, Any]:
        """Return the site's value of every option of the chosen variants, and the chosen variant of every stage.

        `chosen` maps stages to variants; a stage that it does not name has the site's default variant.
        """
        chosen = {**self._site_choices(), **(chosen or {})}
        values: dict[str, Any] = {}
        for stage, row in self.rows.items():
            if stage in chosen:
                values[stage] = chosen[stage]
            variant = variants_of(row)[chosen.get(stage, ONLY_VARIANT)]
            configured = (variant or {}).get("OPTIONS", {})
            for name, declared in _options(variant).items():
                values[f"{stage}.{name}"] = configured.get(name, declared.default)
        return values

    def refused_to_visitors(self, options: Mapping[str, Any]) -> list[Fault]:
        """Return a fault for every option that, in any variant, only staff may set, at all or to this value."""
        faults = {}
        for key, value in options.items():
            stage, _, name = key.partition(".")
            for variant in variants_of(self.rows[stage]).values() if stage in self.rows else ():
                declared = _options(variant).get(name)
                if declared is not None and (why := refused_to_visitors(declared, value)):
                    faults[key] = Fault(pointer("settings", key), f"{key} {why}")
        return list(faults.values())

    def settings_schema(self, *, visitor: bool = False) -> dict[str, Any]:
        """Return the options as a JSON schema, with the site's values as defaults.

        If only some variants of a stage have an option, its entry names them in `variants`. For a visitor, the schema
        contains only the options that a visitor may set, with the bounds for visitors.
        """
        properties: dict[str, Any] = {}
        for stage, row in self.rows.items():
            variants = variants_of(row)
            if "VARIANTS" in row:
                properties[stage] = _choice_schema(stage, row)
            for name in dict.fromkeys([_default(row), *variants]):
                configured = (variants[name] or {}).get("OPTIONS", {})
                for option, declared in _options(variants[name]).items():
                    if (key := f"{stage}.{option}") in properties or (visitor and declared.metadata["staff_only"]):
                        continue
                    described = option_schema(declared, configured.get(option, declared.default), visitor)
                    having = [other for other, variant in variants.items() if option in _options(variant)]
                    some = {"variants": having} if len(having) < len(variants) else {}
                    properties[key] = described | some
        return {"type": "object", "additionalProperties": False, "properties": properties}

    def laid(self, *layers: Mapping[str, Any]) -> dict[str, Any]:
        """Return layers of options merged into one; a later layer replaces values of earlier layers.

        A layer that chooses another variant of a stage removes the stage's options of earlier layers.
        """
        together: dict[str, Any] = {}
        for layer in layers:
            for stage in self.variants():
                if stage in layer and layer[stage] != together.get(stage, _default(self.rows[stage])):
                    together = {key: value for key, value in together.items() if not key.startswith(f"{stage}.")}
            together |= layer
        return together

    def taking(self, options: Mapping[str, Any], option: str, variants: Mapping[str, str]) -> dict[str, Any]:
        """Return options with a variant of the option's stage that takes the option (`stage.option`).

        The variant that `options` choose stays if it takes the option. Otherwise `variants` names another one: present
        variant → variant that takes the option, or `*` for any present variant. Options of the stage that the other
        variant has too are kept. Raises InvalidRequest if no variant is found.
        """
        stage, _, name = option.partition(".")
        row = self.rows.get(stage, {"VARIANTS": {}})
        present = str(options.get(stage, _default(row) if "DEFAULT" in row else ONLY_VARIANT))
        choices = variants_of(row)
        if present in choices and name in _options(choices[present]):
            return dict(options)
        wanted = [variants[key] for key in (present, "*") if key in variants]
        chosen = next((one for one in wanted if one in choices and name in _options(choices[one])), None)
        if chosen is None:
            message = f"No variant of the stage {stage!r} of {self.name} takes {option}."
            raise InvalidRequest([Fault(pointer("settings", option), message)])
        taken = _options(choices[chosen])
        others = {key: value for key, value in options.items() if key != stage and not key.startswith(f"{stage}.")}
        kept = {key: options[key] for key in options if key.removeprefix(f"{stage}.") in taken}
        return {**others, stage: chosen, **kept}

    def specification(self, *layers: Mapping[str, Any]) -> Specification:
        """Return the specification that a run keeps: the site's options, overridden by the layers (the last one wins).

        A layer that chooses another variant of a stage removes the stage's options of earlier layers. Raises
        InvalidRequest with a fault for every unknown key, every invalid value, and every option of a variant that is
        not chosen.
        """
        faults: list[Fault] = []
        chosen = dict(self._site_choices())
        for layer in layers:
            faults += self._choose(layer, chosen)
            faults += self._misfits(layer, chosen)
        if faults:
            raise InvalidRequest(faults)
        options = self.defaults(chosen) | {
            key: value for key, value in self.laid(*layers).items() if key not in self.variants()
        }
        return {"pipeline": self.name, "stages": {stage: self._frozen(stage, chosen, options) for stage in self.rows}}

    def compose(self, specification: Specification, tools: object) -> Any:
        """Return the stages of a specification, with the tools of a release: the attributes of `tools` by name."""
        tool = partial(getattr, tools)
        return self.stages(**{
            name: None if row["BACKEND"] is None else assembled(import_string(row["BACKEND"]), row["OPTIONS"], tool)
            for name, row in specification["stages"].items()
        })  # fmt: skip

    def _site_choices(self) -> dict[str, str]:
        return {stage: _default(row) for stage, row in self.rows.items() if "VARIANTS" in row}

    def _choose(self, layer: Mapping[str, Any], chosen: dict[str, str]) -> Iterator[Fault]:
        """Write the variants that a layer chooses into `chosen`; yield a fault for each unknown variant."""
        for stage, names in self.variants().items():
            if stage not in layer:
                continue
            name = layer[stage]
            if isinstance(name, str) and name in names:
                chosen[stage] = name
            else:
                message = f"{stage} is one of {', '.join(names)}, not {name!r:.80}."
                yield Fault(pointer("settings", stage), message, nearest(str(name), names))

    def _misfits(self, layer: Mapping[str, Any], chosen: Choices) -> Iterator[Fault]:
        """Yield a fault for each option of a layer that is unknown, invalid, or belongs to another variant."""
        variants, known = self.variants(), self.options()
        for key, value in layer.items():
            if key in variants:
                continue
            at, (stage, _, name) = pointer("settings", key), key.partition(".")
            row = self.rows.get(stage)
            declared = (
                _options(variants_of(row)[chosen.get(stage, ONLY_VARIANT)]).get(name) if row is not None else None
            )
            if key not in known:
                names = sorted([*known, *variants])
                message = f"{self.name} has no setting {key[:80]!r}; it has: {', '.join(names) or 'none'}."
                yield Fault(at, message, nearest(key, names))
            elif declared is None:
                yield Fault(at, _of_another(stage, name, variants_of(self.rows[stage]), chosen[stage]))
            elif problem := option_fault(declared, value):
                yield Fault(at, f"{key} {problem}")

    def _frozen(self, stage: str, chosen: Choices, options: Mapping[str, Any]) -> Specification:
        variant = variants_of(self.rows[stage])[chosen.get(stage, ONLY_VARIANT)]
        fields = _options(variant)
        frozen = {
            "BACKEND": variant["BACKEND"] if variant is not None else None,
            "OPTIONS": {name: typed(f.default, options[f"{stage}.{name}"]) for name, f in fields.items()},
        }
        return {"VARIANT": chosen[stage], **frozen} if stage in chosen else frozen


def _default(row: PipelineRow) -> str:
    return str(row["DEFAULT"]) if "VARIANTS" in row else ONLY_VARIANT


def _of_another(stage: str, name: str, variants: Mapping[str, PipelineRow | None], chosen: str) -> str:
    """Return a sentence that says to which variant an option belongs."""
    having = [other for other, variant in variants.items() if name in _options(variant)]
    owner = f"the variant {having[0]}" if len(having) == 1 else f"the variants {' and '.join(having)}"
    return f"{stage}.{name} belongs to {owner} of {stage}, and {chosen} is chosen; set {stage}={having[0]} to use it."


def _choice_schema(stage: str, row: PipelineRow) -> dict[str, Any]:
    return {
        "type": "string",
        "description": f"Which variant of the stage `{stage}` runs.",
        "default": row["DEFAULT"],
        "enum": list(row["VARIANTS"]),
    }


def titles_of(names: Sequence[str], pipeline: Pipeline | None) -> dict[str, str]:
    """Return name → title on pages for these lists of a pipeline's fusion.

    The title is the pipeline's title for the list, else the title of the stage with that name, else that of a list of
    fields, else the name as words.
    `pipeline` is None if the site does not have the pipeline any more.
    """
    own = pipeline.titles if pipeline else {}
    staged = {part.name: part.title for part in pipeline.flow if part.list_name == part.name} if pipeline else {}
    return {
        name: own.get(name) or staged.get(name) or title_of_field(name) or words(name).capitalize() for name in names
    }
