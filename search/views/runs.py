"""The page of the trace of one search: a waterfall of its steps, each with its output."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from search.views.finding import find_run
from search.views.shown.search import pretty, show_run
from search.views.unavailable import says_what_is_down


@require_safe
@says_what_is_down
def trace(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the steps of a search with their backends, durations and raw outputs."""
    run = find_run(request, run_id, stored=True)
    search = show_run(run)
    outputs = [pretty(step.output) for step in run.steps.all()]
    steps = [(step, outputs[at] if at < len(outputs) else "") for at, step in enumerate(search.steps)]
    context = {"search": search, "steps": steps, "run": run, "specification": pretty(run.specification)}
    return render(request, "search/trace.html", context)
