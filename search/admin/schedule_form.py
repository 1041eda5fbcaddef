"""The form of a schedule: that of the job which it launches, with a name and the times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from search.admin.job_form import LaunchForm
from search.services.access.visitors import User

CRON = (
    "Minute, hour, day of month, month, day of week, in UTC. Every night at half past two: 30 2 * * *. "
    "Every Monday at six: 0 6 * * 1."
)
NEWEST = "the newest version each time"


class ScheduleForm(LaunchForm):
    """A schedule; what it launches is told as to a single job, except that each job takes the release in use then."""

    def __init__(
        self,
        kind: str,
        data: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        *,
        user: User = None,
        may_save: bool = True,
    ) -> None:
        """`may_save` False shows it to somebody who may only look."""
        super().__init__(kind, data, initial, user=user)
        self.fields.pop("release", None)
        if "question_set" in self.fields:
            self._offer_newest(str(self.initial.get("question_set", "")))
        text = UnfoldAdminTextInputWidget
        self.fields |= {
            "name": forms.CharField(widget=text, help_text="What lists and the log call it."),
            "cron": forms.CharField(label="Times", widget=text, help_text=CRON),
            "enabled": forms.BooleanField(
                label="Switched on", required=False, initial=True, widget=UnfoldBooleanWidget,
                help_text="While it is off, it launches nothing.",
            ),
        }  # fmt: skip
        self.order_fields(("name", "cron", "enabled"))
        for field in self.fields.values():
            field.disabled = not may_save

    def values(self) -> dict[str, Any]:
        """Return the arguments of `save_schedule`, from a form that is valid."""
        told = super().values()
        del told["release"]
        return {name: self.cleaned_data[name] for name in ("name", "cron", "enabled")} | told

    def _offer_newest(self, given: str) -> None:
        """Offer each question set without a version, too, and one that was given otherwise, such as by a program."""
        field: Any = self.fields["question_set"]
        empty, *sets = field.choices
        newest = dict.fromkeys(value.rpartition("@")[0] for value, _ in sets)
        offered = [(name, f"{name.partition('/')[2]} · {name.partition('/')[0]} · {NEWEST}") for name in newest]
        known = {"", *newest, *(value for value, _ in sets)}
        other = [] if given in known else [(given, given.partition("/")[2])]
        field.choices = [empty, *offered, *sets, *other]
