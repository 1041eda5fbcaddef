"""The form that launches a job: its fields follow from the kind's arguments, so that a new kind needs no form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import arguments_schema
from search.models import JobSchedule, KnowledgeBase
from search.services.jobs.kinds import kind_class, kind_names, title_of
from search.services.jobs.schedules import save_schedule

ARGUMENT = "argument-"
"""Prefix of the fields of the kind's own arguments, so that none of them collides with the fields of every kind."""
SHORT_TEXT = 80


class LaunchForm(forms.Form):
    """What a job of one kind is told: its target, and its arguments."""

    def __init__(self, kind: str, data: Mapping[str, Any] | None = None, initial: Mapping[str, Any] | None = None):
        super().__init__(data, initial=dict(initial or {}))
        self.kind = kind
        cls = kind_class(kind)
        self._schema: dict[str, Any] = arguments_schema(cls)["properties"]
        required = arguments_schema(cls)["required"]
        if "knowledge_base" in cls.targets or "release" in cls.targets:
            self.fields["knowledge_base"] = _choice("Knowledge base", _bases())
        if "question_set" in cls.targets:
            self.fields["question_set"] = _choice("Question set", _question_sets(), "The newest version is first.")
        elif "question_set" in cls.optional:
            self.fields["question_set"] = _choice("Question set", _question_sets(), "May stay empty.", required=False)
        for name, schema in self._schema.items():
            self.fields[ARGUMENT + name] = _field(name, schema, name in required)

    def values(self) -> dict[str, Any]:
        """Return the arguments of `launch_job`, from a form that is valid; fields that were left empty are left out."""
        given = self.cleaned_data
        set_of = str(given.get("question_set", "")).partition("/")
        arguments = {
            name: _value(schema, given[ARGUMENT + name])
            for name, schema in self._schema.items()
            if given[ARGUMENT + name] not in ("", None)
        }
        return {
            "kind": self.kind,
            "knowledge_base": given.get("knowledge_base") or set_of[0],
            "question_set": set_of[2],
            "arguments": arguments,
        }

    def take(self, faults: Sequence[Fault]) -> None:
        """Show the faults of a launch at the fields that they are about, and the others above the form."""
        for fault in faults:
            name = fault.pointer.removeprefix("/")
            if name.startswith("arguments/"):
                name = ARGUMENT + name.removeprefix("arguments/").partition("/")[0]
            self.add_error(name if name in self.fields else None, fault.message)


class ScheduleForm(forms.ModelForm):
    """A schedule; the service that saves it checks everything at once, and its faults are shown at the fields."""

    kind = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    class Meta:
        model = JobSchedule
        fields = ("name", "cron", "kind", "knowledge_base", "question_set", "arguments", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"].choices = [(name, title_of(name)) for name in kind_names()]  # type: ignore[attr-defined]
        self.schedule = self.instance if self.instance.pk else None

    def values(self) -> dict[str, Any]:
        """Return the arguments of `save_schedule`, from a form whose fields are valid."""
        given = self.cleaned_data
        base = given["knowledge_base"]
        plain = {name: given[name] for name in ("name", "cron", "kind", "question_set", "enabled")}
        return plain | {"knowledge_base": base.name if base else "", "arguments": given["arguments"] or {}}

    def clean(self) -> dict[str, Any]:
        """Check the schedule as a whole, without saving it."""
        cleaned = super().clean() or {}
        if not self.errors:
            self._check()
        return cleaned

    def _check(self) -> None:
        try:
            with transaction.atomic():
                save_schedule(**self.values(), schedule=self.schedule)
                transaction.set_rollback(True)
        except InvalidRequest as error:
            for fault in error.faults:
                name = fault.pointer.removeprefix("/").partition("/")[0]
                self.add_error(name if name in self.fields else None, fault.message)


def initial_of(job: Any) -> dict[str, Any]:
    """Return the initial values of the form that launches the same job again."""
    arguments = {ARGUMENT + name: _shown(value) for name, value in job.arguments.items()}
    return {
        "knowledge_base": job.knowledge_base_name,
        "question_set": f"{job.knowledge_base_name}/{job.question_set}" if job.question_set else "",
        **arguments,
    }


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, dict) else value


def _bases() -> list[tuple[str, str]]:
    return [(name, name) for name in KnowledgeBase.objects.order_by("name").values_list("name", flat=True)]


def _question_sets() -> list[tuple[str, str]]:
    """Return the question sets of all knowledge bases; the settings name who lists them: training does."""
    return [
        (f"{base}/{name}", f"{name} · {base} · {questions:,} questions")
        for base, name, questions in import_string(settings.GRASP_LISTED_QUESTION_SETS)()
    ]


def _choice(
    label: str, choices: list[tuple[str, str]], help_text: str = "", required: bool = True
) -> forms.ChoiceField:  # fmt: skip
    return forms.ChoiceField(
        label=label, choices=[("", "Choose…"), *choices], required=required, help_text=help_text,
        widget=UnfoldAdminSelectWidget,
    )  # fmt: skip


def _field(name: str, schema: Mapping[str, Any], required: bool) -> forms.Field:
    """Return the form field of one argument; its default is shown as the initial value."""
    label = name.replace("_", " ").capitalize()
    common: dict[str, Any] = {"label": label, "help_text": schema["description"], "initial": schema.get("default")}
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
            common["initial"] = json.dumps(schema.get("default") or {})
            return _Object(required=required, widget=UnfoldAdminTextareaWidget({"rows": 4}), **common)
    return forms.CharField(required=required, widget=UnfoldAdminTextInputWidget, **common)


class _Object(forms.CharField):
    """A text that holds a JSON object."""

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
    if schema["type"] == "array":
        return [line.strip() for line in str(value).splitlines() if line.strip()]
    return value
