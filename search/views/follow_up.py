"""The box on a result page whose words follow the search that the page shows."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from search.domain.errors import NotNow
from search.models import SearchRun
from search.services.access.visitor_cookie import asking_visitor, keep_visitor
from search.services.searches.check_request import SearchRejected
from search.services.searches.request_search import request_search
from search.views.finding import find_run
from search.views.form import typed_text
from search.views.results import results_page
from search.views.unavailable import not_now, says_what_is_down, status_of


@require_POST
@says_what_is_down
def follow(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask the words of the box as a follow-up of the search and redirect to the page of the new search.

    If the words cannot be asked, return the page of the search with the reason beside the box and status 400; with
    status 429 or 503 if no search is accepted at the moment.
    """
    run, words = find_run(request, run_id), typed_text(request.POST.get("q", ""))
    visitor = asking_visitor(request)
    try:
        asked = request_search(
            knowledge_base=run.knowledge_base_name,
            question=words,
            pipeline=run.pipeline,
            k=run.k,
            follows=run.pk,
            user=request.user,
            visitor=visitor,
            origin=SearchRun.Origin.PAGE,
        )
    except SearchRejected as error:
        reason = " ".join(fault.sentence for fault in error.faults)
        return results_page(request, run, follow_fault=reason, follow_typed=words, status=400)
    except NotNow as error:
        page = results_page(request, run, follow_fault=error.reason, follow_typed=words, status=status_of(error))
        return not_now(page, error)
    answer = redirect("search-results", asked.pk)
    keep_visitor(request, answer, visitor)
    return answer
