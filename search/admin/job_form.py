"""The form that launches a job: its fields follow from the kind's arguments, so that a new kind needs no form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from search.admin.job_picks import listed_sets, pick_field, release_choices, set_choices
from search.admin.option_fields import option_field, with_bounds
from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import arguments_of, arguments_schema
from search.models import KnowledgeBase
from search.services.access.visitors import User
from search.services.jobs.kinds import kind_class
from search.text import words

ARGUMENT = "argument-"
"""Prefix of the fields of the kind's own arguments, so that none of them collides with the fields of every kind."""
SHORT_TEXT = 80


@dataclass(frozen=True, slots=True)
class SettingsGroup:
    """Fields that are folded away, and whether they begin open."""

    title: str
    fields: tuple[forms.BoundField, ...]
    open: bool


class LaunchForm(forms.Form):
    """What a job of one kind is told: its target, and its arguments."""

    def __init__(
        self,
        kind: str,
        data: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        *,
        user: User = None,
    ) -> None:
        """`user` is offered the knowledge bases that they may see, and their question sets; None is offered all."""
        super().__init__(data, initial=dict(initial or {}))
        self.kind = kind
        cls = kind_class(kind)
        fewest = cls.fewest_questions()
        bases = list(KnowledgeBase.objects.visible_to(user).order_by("name").values_list("name", flat=True))
        sets = listed_sets(bases)
        picks = {name: field.metadata["pick"] for name, field in arguments_of(cls).items()}
        self._schema: dict[str, Any] = arguments_schema(cls)["properties"]
        required = arguments_schema(cls)["required"]
        if "knowledge_base" in cls.targets or "release" in cls.targets:
            self.fields["knowledge_base"] = _choice("Knowledge base", [(name, name) for name in bases])
        if "question_set" in cls.targets:
            told = f"The newest version is first. {_needed(fewest)}".strip()
            self.fields["question_set"] = _choice("Question set", set_choices(sets, fewest), told)
        elif "question_set" in cls.optional:
            told = f"May stay empty. {_needed(fewest)}".strip()
            self.fields["question_set"] = _choice("Question set", set_choices(sets, fewest), told, required=False)
        if "release" in cls.targets:
            told = "Another one than searches use may be chosen."
            choices = release_choices(bases)
            self.fields["release"] = _choice("Release", choices[1:], told, required=False, empty=choices[0][1])
        for name, schema in self._schema.items():
            self.fields[ARGUMENT + name] = (
                pick_field(
                    picks[name], schema["type"] == "array", bases, sets, self.initial.get(ARGUMENT + name),
                    required=name in required, **_common(name, schema),
                )
                if picks[name]
                else _field(name, schema, name in required)
            )  # fmt: skip
            self._add_keys(name, schema)

    def _add_keys(self, name: str, schema: Mapping[str, Any]) -> None:
        """Add a field for each key of an object; what the first values have beside them stays in the object itself."""
        given = self.initial.get(ARGUMENT + name)
        rest = dict(given) if isinstance(given, Mapping) else {}
        for key, described in schema.get("properties", {}).items():
            label = words(key.rpartition(".")[2]).capitalize()
            self.fields[f"{ARGUMENT}{name}.{key}"] = option_field(
                label, described, rest.pop(key, None), with_bounds(described)
            )
        if isinstance(given, Mapping):
            self.initial[ARGUMENT + name] = rest

    def plain(self) -> list[forms.BoundField]:
        """Return the fields that are always in sight, in the order of the arguments."""
        objects = {ARGUMENT + name for name, schema in self._schema.items() if "properties" in schema}
        return [self[name] for name in self.fields if name not in objects and not self._key_of(name)]

    def groups(self) -> list[SettingsGroup]:
        """Return the fields of the keys of objects, by the part of the key before its point, and then the JSON."""
        found = []
        for name, schema in self._schema.items():
            if "properties" not in schema:
                continue
            starts = dict.fromkeys(key.rpartition(".")[0] for key in schema["properties"])
            for start in starts:
                fields = [self[f"{ARGUMENT}{name}.{key}"] for key in schema["properties"]
                          if key.rpartition(".")[0] == start]  # fmt: skip
                title = f"{words(start).capitalize()}: settings" if start else words(name).capitalize()
                found.append(SettingsGroup(title, tuple(fields), any(map(_is_used, fields))))
            expert = self[ARGUMENT + name]
            found.append(SettingsGroup(f"{words(name).capitalize()} as JSON, for experts", (expert,), _is_used(expert)))
        return found

    def _key_of(self, field: str) -> str:
        """Return the key for which a field stands, or an empty string."""
        name, _, key = field.removeprefix(ARGUMENT).partition(".")
        return key if key in self._schema.get(name, {}).get("properties", {}) else ""

    def values(self) -> dict[str, Any]:
        """Return the arguments of `launch_job`, from a form that is valid; fields that were left empty are left out."""
        given = self.cleaned_data
        set_of = str(given.get("question_set", "")).partition("/")
        arguments: dict[str, Any] = {}
        for name, schema in self._schema.items():
            # An empty choice that was sent was chosen: it is not the default.
            chosen = ARGUMENT + name in self.data and "" in schema.get("enum", ())
            if chosen or given[ARGUMENT + name] not in ("", None, []):
                arguments[name] = _value(schema, given[ARGUMENT + name])
            keys = {key: given[f"{ARGUMENT}{name}.{key}"] for key in schema.get("properties", {})}
            if keys := {key: value for key, value in keys.items() if value not in ("", None)}:
                arguments[name] = {**arguments.get(name, {}), **keys}
        return {
            "kind": self.kind,
            "knowledge_base": given.get("knowledge_base") or set_of[0],
            "question_set": set_of[2],
            "release": given.get("release", ""),
            "arguments": arguments,
        }

    def take(self, faults: Sequence[Fault]) -> None:
        """Show the faults of a launch at the fields that they are about, and the others above the form."""
        for fault in faults:
            name = fault.pointer.removeprefix("/")
            if name.startswith("arguments/"):
                named, _, key = name.removeprefix("arguments/").partition("/")
                field = f"{ARGUMENT}{named}.{key}"
                name = field if field in self.fields else ARGUMENT + named
            self.add_error(name if name in self.fields else None, fault.message)


def initial_of(kind: str, base: str, question_set: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the initial values of the form that launches a job with this target and these arguments."""
    picked = _picked(kind)
    shown = {ARGUMENT + name: value if name in picked else _shown(value) for name, value in arguments.items()}
    return {"knowledge_base": base, "question_set": f"{base}/{question_set}" if question_set else "", **shown}


def _picked(kind: str) -> set[str]:
    """Return the names of a kind's arguments that are picked from what there is."""
    try:
        return {name for name, field in arguments_of(kind_class(kind)).items() if field.metadata["pick"]}
    except InvalidRequest:
        return set()


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return value


def _needed(fewest: int) -> str:
    return f"It takes {fewest} questions to learn from at least; those of the split train, if there are splits." if (
        fewest) else ""  # fmt: skip


def _is_used(field: forms.BoundField) -> bool:
    """Whether somebody has given a value, or it is faulty: then its part of the form is open."""
    return bool(field.errors) or field.value() not in (None, "", {}, "{}")


def _choice(
    label: str, choices: list[tuple[str, str]], help_text: str = "", required: bool = True, empty: str = "Choose…"
) -> forms.ChoiceField:  # fmt: skip
    return forms.ChoiceField(
        label=label, choices=[("", empty), *choices], required=required, help_text=help_text,
        widget=UnfoldAdminSelectWidget,
    )  # fmt: skip


def _common(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    label = name.replace("_", " ").capitalize()
    return {"label": label, "help_text": schema["description"], "initial": schema.get("default")}


def _field(name: str, schema: Mapping[str, Any], required: bool) -> forms.Field:
    """Return the form field of one argument; its default is shown as the initial value."""
    common = _common(name, schema)
    if "enum" in schema:
        choices = [(choice, choice or "–") for choice in schema["enum"]]
        return forms.ChoiceField(choices=choices, required=required, widget=UnfoldAdminSelectWidget, **common)
    match schema["type"]:
        case "boolean":
            return forms.BooleanField(required=False, widget=UnfoldBooleanWidget, **common)
        case "integer" | "number":
            whole = schema["type"] == "integer"
            field = forms.IntegerField if whole else forms.FloatField
            return field(
                required=required, min_value=schema.get("minimum"), max_value=schema.get("maximum"),
                widget=UnfoldAdminTextInputWidget({"inputmode": "decimal"}), **common,
            )  # fmt: skip
        case "array":
            common["help_text"] = f"{schema['description']} One a line."
            common["initial"] = "\n".join(schema.get("default") or ())
            return forms.CharField(required=required, widget=UnfoldAdminTextareaWidget({"rows": 3}), **common)
        case "object":
            common["help_text"] = f"{schema['description']} A JSON object."
            common["initial"] = schema.get("default") or {}
            return _Object(required=required, widget=UnfoldAdminTextareaWidget({"rows": 4}), **common)
    return forms.CharField(required=required, widget=UnfoldAdminTextInputWidget, **common)


class _Object(forms.CharField):
    """A text that holds a JSON object."""

    def prepare_value(self, value: Any) -> Any:
        """Return an object as text; an empty one as an empty text."""
        if not isinstance(value, dict):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2) if value else ""

    def clean(self, value: Any) -> Any:
        """Return the object, or an empty string. Raises ValidationError with the line of the fault."""
        text = super().clean(value)
        if not text.strip():
            return ""
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from error
        if not isinstance(parsed, dict):
            raise forms.ValidationError('This is not a JSON object, such as {"fuse.k": 5}.')
        return parsed


def _value(schema: Mapping[str, Any], value: Any) -> Any:
    if schema["type"] == "array" and isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return value
