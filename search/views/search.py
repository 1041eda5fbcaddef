"""The search page: it shows the question box and requests searches."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from search.domain.errors import Fault, NotNow
from search.models import SearchRun
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.collections.own_searches import recent_searches
from search.services.searches.check_request import SearchRejected
from search.services.searches.request_search import request_search
from search.views.form import by_field, question_box, typed_text
from search.views.unavailable import not_now, says_what_is_down, status_of


@require_http_methods(["GET", "HEAD", "POST"])
@says_what_is_down
def home(request: HttpRequest) -> HttpResponse:
    """Show the question box; on POST, request the search and redirect to its page.

    On GET the box is filled with the values of the query. GET requests no search, because browsers, crawlers and link
    previews open URLs on their own.
    """
    given = request.POST if request.method == "POST" else request.GET
    values = {
        "knowledge_base": given.get("kb", ""),
        "question": typed_text(given.get("q", "")),
        "pipeline": given.get("pipeline", ""),
    }
    if request.method == "POST":
        return _ask(request, values, given.get("plan", ""))
    return _page(request, values, 200)


def _ask(request: HttpRequest, values: dict[str, str], plan: str) -> HttpResponse:
    """Request the search and return a redirect to its page.

    If the request has faults, return the form with them beside their fields and status 400. If no search is accepted
    at the moment, return the form with status 429 or 503.
    """
    brought, faults = _read_plan(plan)
    visitor = asking_visitor(request)
    try:
        run = request_search(
            knowledge_base=values["knowledge_base"],
            question=values["question"],
            pipeline=values["pipeline"],
            plan=brought,
            faults=faults,
            user=request.user,
            visitor=visitor,
            origin=SearchRun.Origin.PAGE,
        )
    except SearchRejected as error:
        return _page(request, values, 400, by_field(error.faults), plan)
    except NotNow as error:
        return not_now(_page(request, values, status_of(error), {"": [error.reason]}, plan), error)
    answer = redirect("search-results", run.pk)
    keep_visitor(request, answer, visitor)
    return answer


def _read_plan(text: str) -> tuple[Any, list[Fault]]:
    """Return the typed plan, or None if there is none or it is not JSON, and the faults of its JSON."""
    if not text.strip():
        return None, []
    try:
        return json.loads(text), []
    except (ValueError, RecursionError) as error:
        return None, [Fault("/plan", f"The plan is not JSON: {error}.")]


def _page(
    request: HttpRequest, values: dict[str, str], status: int, faults: Any = None, plan: str = ""
) -> HttpResponse:
    box = question_box(request, **values, chooses=True, faults=faults or {})
    own = recent_searches(request.user, visitor_of(request))
    return render(request, "search/home.html", {"box": box, "recent": own, "plan": plan}, status=status)
