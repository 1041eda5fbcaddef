"""Form fields of options, from the JSON schema of each: an empty field means the default, which is shown in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

WORDS = {True: "yes", False: "no"}


def option_field(label: str, described: Mapping[str, Any], value: Any, help_text: str) -> forms.Field:
    """Return the field of one option; its default is the placeholder, or the first choice."""
    common: dict[str, Any] = {"label": label, "help_text": help_text, "required": False, "initial": value}
    default = described["default"]
    if "enum" in described:
        choices = [("", f"default: {default or 'none'}"), *((each, each or "none") for each in described["enum"])]
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget, **common)
    widget = UnfoldAdminTextInputWidget({"placeholder": shown(default)})
    match described["type"]:
        case "boolean":
            choices = [("", f"default: {WORDS[default]}"), ("True", "yes"), ("False", "no")]
            return forms.TypedChoiceField(
                choices=choices, coerce=lambda text: text == "True", empty_value="", widget=UnfoldAdminSelectWidget,
                **common,
            )  # fmt: skip
        case "integer" | "number":
            bounds: dict[str, Any] = {"min_value": described.get("minimum"), "max_value": described.get("maximum")}
            widget.attrs["inputmode"] = "decimal"
            field = forms.IntegerField if described["type"] == "integer" else forms.FloatField
            return field(widget=widget, **bounds, **common)
        case "array":
            return _Numbers(described["minItems"], widget=widget, **common)
    return forms.CharField(widget=widget, **common)


def with_bounds(described: Mapping[str, Any]) -> str:
    """Return what an option does, with its default and its bounds as words."""
    low, high = described.get("minimum"), described.get("maximum")
    bounds = f", from {_plain(low)} to {_plain(high)}" if low is not None and high is not None else ""
    return f"{described['description']} Default: {shown(described['default'])}{bounds}."


def shown(value: Any) -> str:
    """Return a default as people read it."""
    if isinstance(value, bool):
        return WORDS[value]
    return ", ".join(map(str, value)) if isinstance(value, list) else "none" if value in ("", None) else str(value)


def _plain(value: float) -> str:
    return f"{value:,}" if value == int(value) and abs(value) >= 1 else f"{value:g}"


class _Numbers(forms.CharField):
    """A list of numbers, separated by commas or spaces."""

    def __init__(self, number: int, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._number = number

    def prepare_value(self, value: Any) -> Any:
        """Return a list as text."""
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        """Return the numbers, or an empty string. Raises ValidationError."""
        text = super().clean(value)
        if not text.strip():
            return ""
        try:
            numbers = [float(part) for part in text.replace(",", " ").split()]
        except ValueError:
            numbers = []
        if len(numbers) != self._number:
            raise forms.ValidationError(f"Give {self._number} numbers, separated by commas.")
        return numbers
