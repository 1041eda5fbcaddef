"""The other plans that a search tried: a part of the result page that is made when somebody opens it, or a page."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.views.finding import find_run
from search.views.parts import wants_part
from search.views.shown.search import show_run
from search.views.unavailable import says_what_is_down


@require_safe
@never_cache
@says_what_is_down
def other_plans(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the plans beside the one that is shown, most probable first."""
    search = show_run(find_run(request, run_id))
    template = "search/_other_plans.html" if wants_part(request) else "search/other_plans.html"
    return render(request, template, {"search": search})
