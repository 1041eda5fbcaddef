"""Why a result stands where it does: a part of the result page that is made when somebody opens it, or a page."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.services.searches.describe_search import describe_search
from search.views.finding import find_run
from search.views.parts import wants_part
from search.views.shown.search import relations_of, show_described
from search.views.shown.why import show_why
from search.views.unavailable import says_what_is_down


@require_safe
@never_cache
@says_what_is_down
def why(request: HttpRequest, run_id: UUID, rank: int) -> HttpResponse:
    """Show the sum, the signals and the evidence of one result.

    Raises Http404 if the search has no result of this rank.
    """
    run = find_run(request, run_id)
    described = describe_search(run)
    reasons = show_why(described, rank, relations_of(run))
    if reasons is None:
        raise Http404("This search has no result of that rank.")
    search = show_described(run, described)
    result = next(one for one in search.results if one.rank == rank)
    template = "search/_why.html" if wants_part(request) else "search/why.html"
    return render(request, template, {"search": search, "result": result, "why": reasons})
