"""The written answer in the words of a language model: a part of the result page, or a page."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.services.searches.describe_search import describe_search
from search.services.searches.reword import reword
from search.views.finding import find_run
from search.views.parts import wants_part
from search.views.shown.written import show_written
from search.views.unavailable import says_what_is_down


@require_safe
@never_cache
@says_what_is_down
def written(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the written answer of a search reworded, as far as its sources bear that out.

    A search has one such text, which is stored with the calls of the model, so that showing it again costs nothing.
    Raises Http404 if nothing is written.
    """
    search = describe_search(find_run(request, run_id))
    sentences, reworded = reword(search["question"], search["answer"]["written"])
    shown = show_written(search["question"], sentences)
    if shown is None:
        raise Http404("Nothing answers this question, so nothing is written.")
    template = "search/_written_body.html" if wants_part(request) else "search/written.html"
    return render(request, template, {"search": search, "written": shown, "reworded": reworded})
