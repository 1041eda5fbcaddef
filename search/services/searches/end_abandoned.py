"""end_abandoned: end searches that no process works on any more as failed, with a reason."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, QuerySet
from django.utils import timezone

from search.models import SearchRun
from search.services.health import worker_alive
from search.services.searches.load_models import LOADING_SECONDS

OVERDUE_AFTER = timedelta(seconds=20)
"""Time that a search may need after its limit: for its last query, its last write, or a restart of Postgres."""
JUST_STARTED = timedelta(seconds=5)
"""A search that runs for less time than this is not ended because no worker seems to be alive."""
IN_PROCESS = (SearchRun.Origin.COMMAND, SearchRun.Origin.EVALUATION)
"""Origins whose searches run in the process that asked, without a worker."""

NOT_TAKEN = "No search worker took the search within its time limit; ask again once one is running."
WORKER_GONE = "The search worker stopped during the search; ask again."
OVERDUE = "The search did not end within its time limit; the process that ran it is gone. Ask again."


def end_abandoned_search(run: SearchRun) -> SearchRun:
    """Return the run; if no process works on it any more, it is ended as failed, with a reason."""
    reason = _reason(run, timezone.now())
    if reason:
        _fail(SearchRun.objects.filter(pk=run.pk, status=run.status), reason)
        run.refresh_from_db()
    return run


def end_abandoned_searches() -> int:
    """End every abandoned run and return their number; a worker calls this when it starts."""
    open_runs = SearchRun.objects.filter(status__in=(SearchRun.Status.QUEUED, SearchRun.Status.RUNNING))
    return sum(end_abandoned_search(run).status == SearchRun.Status.FAILED for run in open_runs)


def why_nobody_takes(run: SearchRun) -> str | None:
    """Return the reason why no worker takes a queued search, None if no reason is known."""
    if run.status != SearchRun.Status.QUEUED or run.origin in IN_PROCESS:
        return None
    alive = worker_alive("search")
    if alive is None:
        return "Valkey does not answer, so no search worker takes the search."
    return None if alive else "No search worker is running, or it is still loading its models."


def _reason(run: SearchRun, now: datetime) -> str:
    limit = timedelta(seconds=run.time_limit) + OVERDUE_AFTER
    if run.status == SearchRun.Status.QUEUED:
        return NOT_TAKEN if now - run.created > limit else ""
    if run.status != SearchRun.Status.RUNNING or run.started is None:
        return ""
    if now - run.started > limit + timedelta(seconds=LOADING_SECONDS):
        return OVERDUE
    if run.origin not in IN_PROCESS and now - run.started > JUST_STARTED and worker_alive("search") is False:
        return WORKER_GONE
    return ""


def _fail(runs: QuerySet[SearchRun], reason: str) -> int:
    error = {"title": "The search failed", "detail": reason, "stage": "queue" if reason == NOT_TAKEN else "worker"}
    return runs.update(status=SearchRun.Status.FAILED, error=error, finished=timezone.now(), changes=F("changes") + 1)
