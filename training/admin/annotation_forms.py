"""The form that makes an annotation queue."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.http import HttpRequest
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase
from search.services.access.visitors import NOBODY
from search.services.collections.saved_searches import saved_searches
from training.annotation.rules import KINDS, MOST_DEPTH, MOST_SAVED, TAKES, TASKS
from training.data.tasks import LARGEST, LabelTask, decoded, read_tasks
from training.evaluation.lost.stages import LostStage
from training.models import AnnotationQueue
from training.models.annotation import MOST_ITEMS, MOST_OVERLAP
from training.services.evaluations.describe import list_evaluations
from training.services.evaluations.named import named_evaluations

ARGUMENTS = ("evaluations", "pipelines", "searches", "saved", "stages", "kinds", "depth", "per_question", "margin")
MOST_EVALUATIONS = 100
_LINES = UnfoldAdminTextareaWidget(attrs={"rows": 2, "spellcheck": "false"})


def _whole(help_text: str, most: int, **more: Any) -> forms.IntegerField:
    widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"})
    return forms.IntegerField(min_value=1, max_value=most, widget=widget, help_text=help_text, **more)


class _Evaluations(forms.MultipleChoiceField):
    """A choice of evaluations; what is not among the newest may come from a link, and the service checks it."""

    def valid_value(self, value: str) -> bool:
        """Leave it to `plan_queue`, which says what is wrong with an id."""
        return True


class QueueForm(forms.Form):
    """A rule with its arguments, and what the queue is like."""

    name = forms.CharField(
        required=False, max_length=200, widget=UnfoldAdminTextInputWidget, help_text="Annotators see it."
    )
    knowledge_base = forms.ModelChoiceField(
        KnowledgeBase.objects.none(), to_field_name="name", widget=UnfoldAdminSelectWidget, empty_label=None
    )
    rule = forms.ChoiceField(
        label="What it holds", choices=AnnotationQueue.Rule.choices, widget=UnfoldAdminSelectWidget
    )
    evaluations = _Evaluations(
        required=False,
        widget=UnfoldAdminSelectMultipleWidget,
        help_text="Two are compared.",
    )
    pipelines = forms.CharField(
        required=False, widget=_LINES, help_text="Labels as in the report, a line each; empty: all of them."
    )
    searches = forms.CharField(
        required=False, widget=_LINES, help_text="For disagreement: ids of two to four searches of one question, "
        "instead of evaluations.",
    )  # fmt: skip
    saved = forms.MultipleChoiceField(
        required=False, widget=UnfoldAdminSelectMultipleWidget,
        help_text="Searches of this knowledge base that you have saved; their first results are judged.",
    )  # fmt: skip
    tasks = forms.CharField(
        required=False, strip=False, label="Questions, or questions with results",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "spellcheck": "false"}),
        help_text="A question on each line; ids of results to judge may follow it after tabs. Or paste CSV with the "
        "columns question, result, id, answers, or a JSON object with these keys on each line. A question without "
        "results is searched, and what the search finds is judged.",
    )  # fmt: skip
    file = forms.FileField(
        required=False, widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,.tsv,.txt,.jsonl"}),
        help_text="Instead of pasting: CSV, JSON lines or plain lines, in UTF-8. Its lines are shown above.",
    )  # fmt: skip
    stages = forms.MultipleChoiceField(
        required=False, choices=[(one.value, one.heading) for one in LostStage],
        widget=UnfoldAdminSelectMultipleWidget(attrs={"size": len(LostStage)}),
        help_text="For lost answers: the stages that lost them; none chosen: any.",
    )  # fmt: skip
    kinds = forms.MultipleChoiceField(
        required=False, choices=[(one, one) for one in KINDS], widget=UnfoldAdminSelectMultipleWidget,
        help_text="For people's feedback: which; none chosen: all.",
    )  # fmt: skip
    depth = _whole(
        "How many of the first results count; 5 unless you say otherwise, 20 of a random sample.", MOST_DEPTH,
        required=False,
    )  # fmt: skip
    per_question = _whole("Possible answers of one question at most.", MOST_DEPTH, required=False)
    margin = forms.FloatField(
        required=False, min_value=0, max_value=1, widget=UnfoldAdminTextInputWidget,
        help_text="For small margins: the first two scores differ by at most this part of what the first ten do.",
    )  # fmt: skip
    limit = _whole("Items at most.", MOST_ITEMS, initial=200)
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 1, widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
        help_text="Draws the items and shuffles them; the same seed makes the same queue.",
    )  # fmt: skip
    overlap = _whole("People who judge each item.", MOST_OVERLAP, initial=2)
    guideline = forms.CharField(
        required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}),
        help_text="How to judge, in Markdown. Empty: the usual text of the rule, which can be edited later.",
    )  # fmt: skip

    def __init__(self, request: HttpRequest, data: Any, files: Any, initial: dict[str, Any]) -> None:
        given: dict[str, Any] = {"seed": secrets.randbelow(2**31)} | initial
        for name in ("evaluations", "stages", "kinds", "saved"):
            if isinstance(given.get(name), str):
                given[name] = given[name].split()
        self.asked_for: list[LabelTask] = []
        self._upload_faults: Sequence[Fault] = ()
        super().__init__(self._with_upload(data, files), initial=given)
        field = self.fields["knowledge_base"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = KnowledgeBase.objects.visible_to(request.user)
        names = named_evaluations(list_evaluations(user=request.user)[:MOST_EVALUATIONS])
        known = {str(pk): name for pk, name in names.items()}
        asked = data.getlist("evaluations") if data is not None else given.get("evaluations", [])
        choice = self.fields["evaluations"]
        assert isinstance(choice, forms.MultipleChoiceField)
        choice.choices = list((known | {one: one for one in asked if one not in known}).items())

        kept = saved_searches(request.user, NOBODY)[:MOST_SAVED]
        choice = self.fields["saved"]
        assert isinstance(choice, forms.MultipleChoiceField)
        choice.choices = [(str(one.run_id), f"{one.name} ({one.run.knowledge_base_name})") for one in kept]

    def _with_upload(self, data: Any, files: Any) -> Any:
        """Return the data with the lines of an uploaded file as if they had been pasted, so that they can be mended."""
        upload = files.get("file") if files else None
        if upload is None or data is None:
            return data
        if data.get("tasks", "").strip():
            self._upload_faults = [Fault("/file", "Give either a file or pasted lines.")]
            return data
        try:
            text = decoded(upload.read(LARGEST + 1))
        except InvalidRequest as error:
            self._upload_faults = [Fault("/file", fault.message) for fault in error.faults]
            return data
        data = data.copy()
        data["tasks"] = text
        return data

    def clean(self) -> dict[str, Any]:
        """Read the tasks where the rule takes them."""
        values = super().clean() or self.cleaned_data
        self.add_faults(self._upload_faults)
        if values.get("rule") == TASKS and not self._upload_faults:
            try:
                self.asked_for = read_tasks(values.get("tasks", ""))
            except InvalidRequest as error:
                self.add_faults(error.faults)
        return values

    def by_rule(self) -> Iterator[tuple[BoundField, str]]:
        """Yield each field with the rules that take it, words in a line; empty where it belongs to every queue."""
        for field in self:
            taking = [rule for rule, taken in TAKES.items() if field.name in taken]
            yield field, " ".join(taking)

    def asked(self) -> dict[str, Any]:
        """Return the arguments of `plan_queue`."""
        values = self.cleaned_data
        arguments = {name: values[name] for name in ARGUMENTS if values[name] not in (None, "", [])}
        for name in ("pipelines", "searches"):
            if name in arguments:
                arguments[name] = [line.strip() for line in arguments[name].splitlines() if line.strip()]
        return {
            "knowledge_base": values["knowledge_base"], "rule": values["rule"], "arguments": arguments,
            "seed": values["seed"], "limit": values["limit"], "tasks": self.asked_for,
        }  # fmt: skip

    def add_faults(self, faults: Sequence[Fault]) -> None:
        """Show each fault beside its field."""
        for fault in faults:
            name = fault.pointer.removeprefix("/arguments").strip("/").split("/")[0]
            self.add_error(name if name in self.fields else None, fault.sentence)
