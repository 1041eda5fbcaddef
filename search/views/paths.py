"""The page of all paths that lead to one result."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from search.services.searches.list_paths import MOST_PATHS, list_paths
from search.views.finding import find_run
from search.views.shown.drawing import draw
from search.views.shown.results import show_path
from search.views.shown.search import relations_of
from search.views.unavailable import says_what_is_down


@require_safe
@says_what_is_down
def paths(request: HttpRequest, run_id: UUID, rank: int) -> HttpResponse:
    """Show every best match of the plan that found a result, one drawing for each match.

    Raises Http404 if the search has no result of this rank.
    """
    run = find_run(request, run_id)
    found = list_paths(run, rank)
    if found is None:
        raise Http404("This search has no result of that rank.")
    relations = relations_of(run)
    matches = [([show_path(path, relations) for path in match], draw(match, relations)) for match in found.matches]
    context = {"run": run, "rank": rank, "found": found, "matches": matches, "most": MOST_PATHS}
    return render(request, "search/paths.html", context)
