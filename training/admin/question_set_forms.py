"""Forms of the pages that import question sets: what is uploaded, and what is done about its splits."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.timezone import get_current_timezone
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from search.models import KnowledgeBase
from training.data.examples import BadQuestions
from training.data.splitting import parse_shares
from training.services.check_questions import KEEP, MOVE, REFUSE, SplitOptions
from training.services.question_sets import MOST_NAME_CHARACTERS
from training.services.read_upload import LARGEST_UPLOAD

MOST_PASTED = 2_000_000
_FORMATS = [
    ("", "As the name or the text says"), ("jsonl", "JSON lines"), ("stark", "STaRK's CSV"),
    ("text", "Question, tab, answers"),
]  # fmt: skip
_DUPLICATES = [(REFUSE, "refuse the set"), (MOVE, "move each group into one split"), (KEEP, "keep them as they are")]


class BaseForm(forms.Form):
    """A form about one of the knowledge bases that the user may see."""

    knowledge_base = forms.ModelChoiceField(
        KnowledgeBase.objects.none(), to_field_name="name", widget=UnfoldAdminSelectWidget
    )
    name = forms.CharField(
        required=False, max_length=MOST_NAME_CHARACTERS, widget=UnfoldAdminTextInputWidget,
        help_text="Of the set; the same name with other questions is its next version. Else that of the file.",
    )  # fmt: skip

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["knowledge_base"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = KnowledgeBase.objects.visible_to(request.user).select_related("active_release__snapshot")
        field.empty_label = None


class UploadForm(BaseForm):
    """A file or a pasted text with questions."""

    file = forms.FileField(
        required=False, widget=forms.FileInput(attrs={"class": "block max-w-full"}),
        help_text="JSON lines (also .gz), STaRK's CSV, tab-separated text, or TREC topics with their known answers; up "
        f"to {LARGEST_UPLOAD >> 20} MB.",
    )  # fmt: skip
    qrels = forms.FileField(
        required=False, widget=forms.FileInput(attrs={"class": "block max-w-full"}), help_text="Only for TREC topics."
    )
    pasted = forms.CharField(
        required=False, max_length=MOST_PASTED, strip=False, label="Or paste them",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="A line each: the question, a tab, and the ids of its answers with tabs between. Or lines of JSON.",
    )  # fmt: skip
    form = forms.ChoiceField(required=False, choices=_FORMATS, label="Format", widget=UnfoldAdminSelectWidget)


class FeedbackForm(BaseForm):
    """Which feedback becomes questions."""

    since = forms.DateField(
        required=False, widget=UnfoldAdminTextInputWidget(attrs={"type": "date"}), help_text="Leave out older feedback."
    )

    def moment(self) -> datetime | None:
        """Return the beginning of the day, None without one."""
        day = self.cleaned_data.get("since")
        return datetime(day.year, day.month, day.day, tzinfo=get_current_timezone()) if day else None


class OptionsForm(forms.Form):
    """The name of the set, and what is done about its splits."""

    name = forms.CharField(max_length=MOST_NAME_CHARACTERS, widget=UnfoldAdminTextInputWidget)
    duplicates = forms.ChoiceField(
        choices=_DUPLICATES, initial=REFUSE, label="Questions of different splits that say the same",
        widget=UnfoldAdminSelectWidget,
    )  # fmt: skip
    into = forms.ChoiceField(
        required=False, label="The split into which groups are moved", widget=UnfoldAdminSelectWidget
    )
    split = forms.CharField(
        required=False, max_length=200, label="Shares of new splits", widget=UnfoldAdminTextInputWidget,
        help_text="Such as train=80, val=10, test=10; questions that say the same stay together.",
    )  # fmt: skip
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, initial=0, help_text="Draws the new splits.",
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
    )  # fmt: skip

    def __init__(self, splits: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        divided = any(splits)
        for unused in ("split", "seed") if divided else ("duplicates", "into"):
            del self.fields[unused]
        if divided:
            field = self.fields["into"]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(split, split or "(no split)") for split in splits]

    def clean_split(self) -> dict[str, float]:
        """Return the shares. Raises ValidationError with every faulty one."""
        try:
            return parse_shares(self.cleaned_data["split"])
        except BadQuestions as error:
            raise forms.ValidationError(error.faults) from error

    def options(self) -> SplitOptions:
        """Return what was chosen; the defaults while the form has faults."""
        chosen = self.cleaned_data if self.is_bound and self.is_valid() else {}
        return SplitOptions(
            chosen.get("duplicates") or REFUSE, chosen.get("into") or "", chosen.get("split") or {},
            chosen.get("seed") or 0,
        )  # fmt: skip
