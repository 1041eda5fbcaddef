"""A page of the admin: the exact prompt with which a language model would be asked to plan a question."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from search.domain.errors import InvalidRequest
from search.domain.question import LONGEST_QUESTION
from search.models import KnowledgeBase
from search.prompts import PromptFault
from search.services.language_models.preview_prompt import preview_prompt


class PreviewForm(forms.Form):
    """A knowledge base that the user may see, and a question."""

    knowledge_base = forms.ModelChoiceField(
        KnowledgeBase.objects.none(), to_field_name="name", widget=UnfoldAdminSelectWidget
    )
    question = forms.CharField(max_length=LONGEST_QUESTION, widget=UnfoldAdminTextInputWidget)

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.GET or None)
        field = self.fields["knowledge_base"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = KnowledgeBase.objects.visible_to(request.user).filter(active_release__isnull=False)


def preview_context(request: HttpRequest) -> dict[str, Any]:
    """Return the page's context: the form and, once it is filled in, the preview. No model is called."""
    form = PreviewForm(request)
    context: dict[str, Any] = {"title": "Prompt of a question", "form": form}
    if form.is_valid():
        try:
            context["preview"] = preview_prompt(form.cleaned_data["knowledge_base"], form.cleaned_data["question"])
        except (InvalidRequest, PromptFault) as error:
            form.add_error(None, str(error))
    return context
