"""The page that explains all words of the field."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from search.glossary import ACRONYMS, GLOSSARY


@require_safe
def glossary(request: HttpRequest) -> HttpResponse:
    """Show every word with its explanation, by the plain word; then the acronyms."""
    words = sorted(GLOSSARY.items(), key=lambda entry: entry[1].plain)
    return render(request, "search/glossary.html", {"words": words, "acronyms": ACRONYMS.items()})
