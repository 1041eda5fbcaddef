"""The page that asks before somebody loses for good what they wrote or put together."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from search.views.parts import wants_json

CONFLICT = 409


@dataclass(frozen=True, slots=True)
class SureLoss:
    """What would be lost: the question that names it, a sentence, and the word on the button that does it."""

    question: str
    sentence: str
    does: str


def is_sure(request: HttpRequest) -> bool:
    """Whether the caller has seen the page, and pressed its button."""
    return request.POST.get("sure") == "1"


def ask_first(request: HttpRequest, loss: SureLoss, back: str) -> HttpResponse:
    """Return a page whose form sends the same request once more, and a link `back`; to a script, the question alone."""
    if wants_json(request):
        return JsonResponse({"ask": loss.question}, status=CONFLICT)
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    told = [(name, value) for name, value in fields if name not in ("csrfmiddlewaretoken", "sure")]
    return render(request, "search/sure.html", {"loss": loss, "fields": told, "back": back})
