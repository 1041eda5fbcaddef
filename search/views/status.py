"""The page of services, workers and queues, each with its state and the reason."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.services.access.visible import told_to
from search.services.health import all_ready, queue_status, system_status


@require_safe
@never_cache
def status(request: HttpRequest) -> HttpResponse:
    """Show the state of services, workers and queues; the page also answers while Postgres is unavailable."""
    services = told_to(system_status(), request.user)
    ready = all_ready(services)
    context = {"services": services, "queues": queue_status(), "ready": ready}
    template = "search/_services.html" if request.headers.get("HX-Request") else "search/status.html"
    return render(request, template, context)
