"""The page of the trace of one search: a waterfall of its steps, each with its output."""

from __future__ import annotations

from itertools import zip_longest
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from search.services.searches.describe_search import describe_search
from search.views.finding import find_run
from search.views.shown.progress import show_steps
from search.views.shown.search import pretty, show_described
from search.views.unavailable import says_what_is_down

LEAST_WAIT = 0.001
"""Seconds of waiting for a worker that are shown."""


@require_safe
@says_what_is_down
def trace(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the steps of a search with their backends, durations and raw outputs."""
    run = find_run(request, run_id, stored=True)
    described = describe_search(run)
    waited = (run.started - run.created).total_seconds() if run.started is not None else 0.0
    waited = waited if waited >= LEAST_WAIT else 0.0
    steps = show_steps(described, waited)
    outputs = [*([""] if waited else []), *(pretty(step.output) for step in run.steps.all())]
    took = [step for step in steps if step.milliseconds is not None]
    context = {
        "search": show_described(run, described), "run": run, "specification": pretty(run.specification),
        "steps": list(zip_longest(steps, outputs[: len(steps)], fillvalue="")),
        "whole": sum(step.milliseconds or 0.0 for step in took), "ran": len(took) - bool(waited),
        "longest": max(took, key=lambda step: step.milliseconds or 0.0, default=None),
    }  # fmt: skip
    return render(request, "search/trace.html", context)
