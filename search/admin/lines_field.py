"""A field of texts, one a line, for what the database keeps as a list."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget

from search.domain.question import LONGEST_QUESTION

MOST_LINES = 50


class LinesField(forms.Field):
    """Shows a list of texts as lines and reads it back; empty lines are left out."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}), **options)

    def prepare_value(self, value: Any) -> Any:
        """Return the lines; what was typed, and is shown again with a fault, stays as it is."""
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        """Return the texts. Raises ValidationError if there are too many, or one is too long or cannot be stored."""
        lines = [line.strip() for line in str(value or "").splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            raise forms.ValidationError(f"There are {len(lines)} lines; {MOST_LINES} are the most.")
        for number, line in enumerate(lines, 1):
            if len(line) > LONGEST_QUESTION:
                message = f"Line {number} has {len(line):,} characters; {LONGEST_QUESTION:,} are the most."
                raise forms.ValidationError(message)
            if "\x00" in line:
                raise forms.ValidationError(f"Line {number} contains a NUL character; remove it.")
        return lines
