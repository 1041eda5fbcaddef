"""The page of services, workers and queues with their states."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError, connection
from django.views.generic import TemplateView
from unfold.views import UnfoldModelAdminViewMixin

from search.admin.job_shown import percent_of
from search.models import Job
from search.services.access.visible import told_to
from search.services.access.visitors import User
from search.services.health import all_ready, queue_status, system_status
from search.services.upkeep.observe_work import live_jobs, waiting_by_queue, workers


class ServicesPage(UnfoldModelAdminViewMixin, TemplateView):
    """Shows the state of each service, worker and queue."""

    title = "Services, workers and queues"
    permission_required = ("search.view_searchrun",)
    template_name = "admin/search/services.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the context with the states of all services; one without an answer in about a second is down."""
        return (
            super().get_context_data(**kwargs) | state_of_services(self.request.user) | {"connections": _connections()}
        )


def state_of_services(user: User) -> dict[str, Any]:
    """Return services, queues, workers and live jobs for the templates; of the jobs those that the user may see."""
    services, queues, jobs = told_to(system_status(), user), queue_status(), live_jobs(user)
    waiting = waiting_by_queue()
    names = [queue["name"] for queue in queues] or list(waiting)
    return {
        "services": services,
        "all_ready": all_ready(services),
        "queues": [{"name": name, "waiting": waiting.get(name)} | _state(name, queues) for name in names],
        "broker_away": not queues,
        "workers": workers(queues, jobs),
        "live_jobs": [
            {
                "job": job, "percent": percent_of(job),
                "left": job.progress.get("seconds_left_range") if job.state == Job.State.RUNNING else None,
                "reason": _reason(job.queue, queues) if job.state == Job.State.QUEUED else "",
            }
            for job in jobs
        ],
    }  # fmt: skip


def _state(name: str, queues: list[dict[str, Any]]) -> dict[str, Any]:
    """Return why a queue waits; `idle` if it has no worker and needs none."""
    queue = next((queue for queue in queues if queue["name"] == name), {"reason": "", "needed": True})
    return {"reason": queue["reason"], "idle": bool(queue["reason"]) and not queue["needed"]}


def _reason(name: str, queues: list[dict[str, Any]]) -> str:
    return next((queue["reason"] for queue in queues if queue["name"] == name), "")


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
