"""Alerts about work: services and queues, jobs that fail, Neo4j, language models."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Max
from django.urls import reverse
from django.utils import timezone

from search.models import Endpoint, Job, LanguageModelCall
from search.services.health import queue_status, system_status
from search.services.upkeep.alerts.alert import Alert
from search.services.upkeep.observe_work import waiting_by_queue

PATIENCE = timedelta(seconds=15)
"""Time that something may wait for a worker that has just been started."""
A_DAY = timedelta(days=1)
FAILED_CALLS = 3
"""Calls of a language model in a row, all failed, after which it counts as down."""
CALLS_WITHIN = timedelta(hours=1)
OWN_ALERTS = frozenset({"search worker"})
"""Services about which the queues say more."""


def queues() -> Iterator[Alert]:
    """Yield an alert for each queue in which work waits and that no worker serves."""
    served = {queue["name"]: bool(queue["workers"]) for queue in queue_status()}
    now = timezone.now()
    for name, waiting in waiting_by_queue().items():
        late = waiting.oldest is not None and now - waiting.oldest > PATIENCE
        if served and not served.get(name) and waiting.number and late:
            what = "searches wait" if name == "search" else "jobs wait"
            yield Alert(
                "worker", "now", f"{waiting.number} {what} for the queue {name}, which no worker serves.",
                "Start a worker for it, or look into its log to see why it stopped.",
                link=reverse("admin:search_services"), link_text="Services, workers and queues",
                command=f"manage.py worker --queue {name}" if name != "search" else "",
            )  # fmt: skip


def services() -> Iterator[Alert]:
    """Yield an alert for each service that does not answer, Neo4j out of step included."""
    for service in system_status():
        if service["state"] == "ready" or service["name"] in OWN_ALERTS:
            continue
        down = service["state"] == "down"
        todo = "Start it, or mend its address in the settings." if down else "Searches go on without it meanwhile."
        if service["name"] == "index files":
            todo = "That machine answers no searches of it until then; docs/several-workers.md says more."
        yield Alert(
            "service", "now" if down else "soon", f"{service['name']}: {service['reason']}", todo,
            link=reverse("admin:search_services"), link_text="Services, workers and queues",
        )  # fmt: skip


def failing_jobs() -> Iterator[Alert]:
    """Yield an alert for each kind and knowledge base whose newest job failed within the last day."""
    ended = Job.objects.filter(finished__gt=timezone.now() - A_DAY, state__in=[Job.State.DONE, Job.State.FAILED])
    groups = ended.values("kind", "knowledge_base_name").annotate(last=Max("finished"), number=Count("pk")).order_by()
    for group in groups:
        same = ended.filter(kind=group["kind"], knowledge_base_name=group["knowledge_base_name"])
        job = same.filter(finished=group["last"]).first()
        if job is not None and job.state == Job.State.FAILED:
            yield Alert(
                "job", "soon", f"{job} failed: {job.reason[:200]}",
                "Read its log, mend the cause, then resume it or launch it again.",
                link=reverse("admin:search_job_change", args=[job.pk]), link_text="The job",
                knowledge_base=job.knowledge_base_name,
            )  # fmt: skip


def model_server() -> Iterator[Alert]:
    """Yield an alert if the newest calls of the language model in use all failed within the last hour."""
    endpoint = Endpoint.objects.filter(active=True).first()
    if endpoint is None and not settings.LLM_BASE_URL:
        return
    calls = LanguageModelCall.objects.filter(created__gt=timezone.now() - CALLS_WITHIN)
    if endpoint is not None:
        calls = calls.filter(endpoint=endpoint)
    newest = list(calls.order_by("-created").values_list("error", "endpoint_name")[:FAILED_CALLS])
    if len(newest) == FAILED_CALLS and all(error for error, _ in newest):
        yield Alert(
            "language model", "soon", f"The language model of {newest[0][1]} does not answer: {newest[0][0][:200]}",
            "Start its server, or switch the endpoint off; searches plan without it.",
            link=reverse("admin:search_endpoint_changelist"), link_text="Servers of language models",
        )  # fmt: skip
