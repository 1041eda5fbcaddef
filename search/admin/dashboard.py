"""The admin's first page: services, workers, queues, jobs, disk, searches and quality over time, last searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.module_loading import import_string

from search.admin.charts import quality_charts, search_bars
from search.admin.services_page import state_of_services
from search.models import KnowledgeBase, RetentionRun, SearchRun
from search.services.access.count_refused import refused_by_day
from search.services.access.visible import hiding_names, rows_for
from search.services.searches.count_searches import SHOWN_DAYS, count_searches, totals
from search.services.upkeep.alerts import Alert, site_alerts
from search.services.upkeep.measure_storage import measure_disk, measure_storage

LATEST = 8
MOST_BASES = 50


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the page. Every statement is bounded: by days, by a number of rows, or by estimates."""
    today = timezone.now().date()
    visible = KnowledgeBase.objects.visible_to(request.user)
    bases = list(visible.select_related("active_release__snapshot", "active_release__knowledge_base")[:MOST_BASES])
    names = set(visible.values_list("name", flat=True))
    latest = rows_for(SearchRun.objects.of_people(), request.user).only(
        "pk", "question", "status", "pipeline", "knowledge_base_name", "seconds", "created"
    )[:LATEST]
    shown = {
        "alerts": _alerts(request, names),
        "bases": bases,
        "latest": latest,
        "refused": refused_by_day(today),
        "measured": _quality(request, names),
    }
    return context | state_of_services(request.user) | shown | _searches(today, bases) | _kept()


def _searches(today: Any, bases: list[KnowledgeBase]) -> dict[str, Any]:
    """Return the searches of the last days as a chart, as the rows of its table, and in the figures at the top."""
    days = count_searches(today)
    sums = totals(days)
    figures = [
        ("Knowledge bases", len(bases)),
        ("Entities that can be searched", sum(b.active_release.snapshot.nodes for b in bases if b.active_release)),
        (f"Searches answered in {SHOWN_DAYS} days", sums.answered),
        ("Searches failed", sums.failed),
        ("Searches under way", sums.open),
    ]
    return {
        "figures": figures, "search_days": list(reversed(days)),
        "search_bars": search_bars(days) if sums.total else None,
    }  # fmt: skip


def _alerts(request: HttpRequest, names: set[str]) -> list[Alert]:
    """Return the alerts about no knowledge base, or one that the reader may see; superusers read all."""
    if getattr(request.user, "is_superuser", False):
        return site_alerts()
    hidden = hiding_names(request.user)
    return [
        replace(alert, title=hidden(alert.title), todo=hidden(alert.todo), command=hidden(alert.command))
        for alert in site_alerts()
        if not alert.knowledge_base or alert.knowledge_base in names
    ]


def _quality(request: HttpRequest, names: set[str]) -> list[Any]:
    """Return the charts of quality; the settings name who knows it: training does."""
    if not request.user.has_perm("training.view_evaluation"):
        return []
    rows = import_string(settings.GRASP_QUALITY)()
    return quality_charts([row for row in rows if row["knowledge_base"] in names])


def _kept() -> dict[str, Any]:
    """Return how much is kept, how much room there is, and what the retention did last."""
    return {
        "stored": measure_storage(), "disk": measure_disk(), "retention": RetentionRun.objects.first(),
        "days": settings.GRASP_RUNS_DAYS,
    }  # fmt: skip
