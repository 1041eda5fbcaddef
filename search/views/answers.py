"""All answers of a search's plan: page by page, and as a table to download."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.sentences.values import order_value
from search.services.searches.plan_answers import answer_rows, page_of, plan_answers
from search.views.export import csv_answer
from search.views.finding import find_run
from search.views.shown.search import relations_of, show_run
from search.views.unavailable import says_what_is_down

PAGE = 50
"""Answers on a page."""


@require_safe
@never_cache
@says_what_is_down
def answers(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show one page of the plan's answers, in the plan's order; `page` in the query counts from 1."""
    run = find_run(request, run_id)
    found = plan_answers(run)
    last = max(1, -(-len(found) // PAGE))
    given = request.GET.get("page", "1")
    page = int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0
    if not 1 <= page <= last:
        raise Http404(f"The answers have {last} page{'s' if last > 1 else ''}.")
    order = found.plan.order.to_json() if found.plan is not None and found.plan.order is not None else None
    relations = relations_of(run)
    listed = [
        (one, order_value(order, one.placed.value, relations) if one.placed and order else "")
        for one in page_of(found, run, (page - 1) * PAGE, PAGE)
    ]
    context: dict[str, Any] = {
        "run": run, "search": show_run(run), "found": found, "listed": listed,
        "page": page, "last": last,
    }  # fmt: skip
    return render(request, "search/answers.html", context)


@require_safe
@never_cache
@says_what_is_down
def answers_csv(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Return all answers of the plan as a CSV file, one row for each, with all their fields."""
    run = find_run(request, run_id)
    found = plan_answers(run)
    if found.reason:
        raise Http404(found.reason)
    return csv_answer(request, answer_rows(found, run), f"answers-{run_id}.csv")
