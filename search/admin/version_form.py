"""The form of a new version of a pipeline: its fields follow from the settings schema, grouped by stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldBooleanWidget

from search import wiring
from search.admin.option_fields import option_field
from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase
from search.services.access.visitors import User

SETTING = "setting-"
"""Prefix of the fields of settings, so that none of them collides with the others."""


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """The fields of one stage."""

    title: str
    about: str
    fields: tuple[forms.BoundField, ...]


class ChooseForm(forms.Form):
    """For which knowledge base and pipeline a version is made."""

    knowledge_base = forms.ChoiceField(widget=UnfoldAdminSelectWidget)
    pipeline = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    def __init__(self, user: User, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        bases = KnowledgeBase.objects.visible_to(user).order_by("name").values_list("name", flat=True)
        self.fields["knowledge_base"].choices = [(name, name) for name in bases]  # type: ignore[attr-defined]
        self.fields["pipeline"].choices = [  # type: ignore[attr-defined]
            (name, wiring.row(name)["TITLE"]) for name in wiring.pipelines()
        ]


class VersionForm(forms.Form):
    """The settings of a version; an empty field means the site's default, which is shown in it."""

    def __init__(
        self, pipeline: str, options: Mapping[str, Any], data: Mapping[str, Any] | None = None, *, may_activate: bool
    ) -> None:
        """`options` are those that the form begins with, such as the options of the active version."""
        super().__init__(data)
        self._pipeline = wiring.pipeline(pipeline)
        self._schema: dict[str, Any] = self._pipeline.settings_schema()["properties"]
        for key, described in self._schema.items():
            self.fields[SETTING + key] = _field(key, described, options.get(key))
        self.fields["note"] = forms.CharField(
            required=False, max_length=2_000, widget=UnfoldAdminTextareaWidget({"rows": 2}),
            help_text="What the version is for.",
        )  # fmt: skip
        if may_activate:
            self.fields["activate"] = forms.BooleanField(
                required=False, label="Use it for searches at once", widget=UnfoldBooleanWidget
            )

    def groups(self) -> Iterator[FieldGroup]:
        """Yield the fields of each stage that has settings, in the order of the stages."""
        stages = {part.name: part for part in self._pipeline.flow}
        for stage in dict.fromkeys(key.partition(".")[0] for key in self._schema):
            part = stages.get(stage)
            fields = tuple(self[SETTING + key] for key in self._schema if key.partition(".")[0] == stage)
            yield FieldGroup(part.title if part else stage, f"{stage}, {part.role}" if part else stage, fields)

    def others(self) -> tuple[forms.BoundField, ...]:
        """Return the fields that are no settings."""
        return tuple(self[name] for name in ("note", "activate") if name in self.fields)

    def options(self) -> dict[str, Any]:
        """Return the options that were given; fields that are empty or faulty are left out."""
        found = {}
        for key in self._schema:
            value = self.cleaned_data.get(SETTING + key)
            if value not in ("", None):
                found[key] = value
        return found

    def clean(self) -> dict[str, Any]:
        """Check the settings together: a setting may belong to a variant that is not chosen."""
        cleaned = super().clean() or {}
        try:
            self._pipeline.specification(self.options())
        except InvalidRequest as error:
            for fault in error.faults:
                self._take(fault)
        return cleaned

    def _take(self, fault: Fault) -> None:
        """Show a fault at the field that it is about, else above the form."""
        name = SETTING + fault.pointer.removeprefix("/settings/")
        self.add_error(name if name in self.fields else None, fault.message)


def _field(key: str, described: Mapping[str, Any], value: Any) -> forms.Field:
    help_text = described["description"]
    if "variants" in described:
        help_text += f" Only with {key.partition('.')[0]} = {' or '.join(described['variants'])}."
    return option_field(key, described, value, help_text)
