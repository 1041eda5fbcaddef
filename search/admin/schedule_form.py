"""The form of a schedule: a job that is launched at the times of a cron expression."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db import transaction
from unfold.widgets import UnfoldAdminSelectWidget

from search.domain.errors import InvalidRequest, NotAllowed
from search.models import JobSchedule
from search.services.access.visitors import User
from search.services.jobs.kinds import kind_names, offered_kinds, title_of
from search.services.jobs.schedules import save_schedule


class ScheduleForm(forms.ModelForm):
    """A schedule; the service that saves it checks everything at once, and its faults are shown at the fields."""

    user: User = None
    """Who fills it in; the form of a request sets it."""
    kind = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    class Meta:
        model = JobSchedule
        fields = ("name", "cron", "kind", "knowledge_base", "question_set", "arguments", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.schedule = self.instance if self.instance.pk else None
        # Kinds that nobody launches by hand, such as the unpacking of an upload, cannot be repeated either.
        offered = {known["kind"] for known in offered_kinds(self.user)} | {self.instance.kind}
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (name, title_of(name)) for name in kind_names() if name in offered
        ]
        self.fields["cron"].help_text += " Every night at half past two: 30 2 * * *"

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
                save_schedule(**self.values(), user=self.user, schedule=self.schedule)
                transaction.set_rollback(True)
        except InvalidRequest as error:
            for fault in error.faults:
                name = fault.pointer.removeprefix("/").partition("/")[0]
                self.add_error(name if name in self.fields else None, fault.message)
        except NotAllowed as error:
            self.add_error(None, str(error))
