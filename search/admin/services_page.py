"""The page of services, workers and queues with their states, and the admin's dashboard."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count
from django.http import HttpRequest
from django.utils import timezone
from django.views.generic import TemplateView
from unfold.views import UnfoldModelAdminViewMixin

from search.models import KnowledgeBase, RetentionRun, SearchRun
from search.services.access.count_refused import refused_by_day
from search.services.health import all_ready, queue_status, system_status
from search.services.upkeep.measure_storage import measure_storage

OPEN_STATUSES = (SearchRun.Status.QUEUED, SearchRun.Status.RUNNING)


class ServicesPage(UnfoldModelAdminViewMixin, TemplateView):
    """Shows the state of each service, worker and queue."""

    title = "Services, workers and queues"
    permission_required = ("search.view_searchrun",)
    template_name = "admin/search/services.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the context with the states of all services; one without an answer in about a second is down."""
        return super().get_context_data(**kwargs) | state_of_services() | {"connections": _connections()}


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the admin's first page: services, counts, and the latest searches."""
    asked = SearchRun.objects.of_people()
    counts = dict(asked.values_list("status").annotate(number=Count("pk")).order_by())
    bases = KnowledgeBase.objects.select_related("active_release__snapshot", "active_release__knowledge_base")
    figures = [
        ("Knowledge bases", len(bases)),
        ("Nodes that can be searched", sum(b.active_release.snapshot.nodes for b in bases if b.active_release)),
        ("Searches answered", counts.get(SearchRun.Status.DONE, 0)),
        ("Searches failed", counts.get(SearchRun.Status.FAILED, 0)),
        ("Searches under way", sum(counts.get(status, 0) for status in OPEN_STATUSES)),
    ]
    latest = asked.only("pk", "question", "status", "pipeline", "knowledge_base_name", "seconds", "created")[:8]
    shown = {"figures": figures, "bases": bases, "latest": latest, "refused": refused_by_day(timezone.now().date())}
    return context | state_of_services() | shown | _kept()


def _kept() -> dict[str, Any]:
    """Return how much is kept, and what the retention did last."""
    return {"stored": measure_storage(), "retention": RetentionRun.objects.first(), "days": settings.GRASP_RUNS_DAYS}


def state_of_services() -> dict[str, Any]:
    """Return services and queues for the templates."""
    services = system_status()
    return {
        "services": services,
        "queues": queue_status(),
        "all_ready": all_ready(services),
    }


def _connections() -> list[dict[str, Any]]:
    """Return the number of connections to Postgres by client and state; empty if it does not answer."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT coalesce(nullif(application_name, ''), backend_type), coalesce(state, ''), count(*) "
                "FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20"
            )
            return [{"client": client, "state": state, "count": count} for client, state, count in cursor.fetchall()]
    except DatabaseError:
        return []
