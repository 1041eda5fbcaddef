"""retention: end abandoned searches, delete data that is older than the settings allow, and record the numbers."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import Error, connection, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from search.models import RefusedRequests, RetentionRun
from search.services.language_models.llm_calls import prune_calls
from search.services.searches.end_abandoned import end_abandoned_searches
from search.services.searches.prune_runs import delete_runs

RETENTION_INTERVAL = timedelta(hours=1)
"""Time between two deletions. Abandoned searches are ended at every call."""
NOTES_DAYS = 400
"""Days that counts of refused requests and rows of retention runs are kept."""
LOCK = 0x6772617370
"""Key of the advisory lock in Postgres that lets only one process begin a deletion."""

log = structlog.get_logger(__name__)


def keep_up() -> RetentionRun | None:
    """End abandoned searches, and delete old data unless that was done within the last hour.

    Several workers may call this at the same time; only one of them deletes. Returns the row that says what was
    deleted, or None if it was not time yet. If the database fails, the error is recorded in the row and raised.
    """
    settled = end_abandoned_searches()
    note = _claim(settled)
    return None if note is None else _delete(note)


def _claim(settled: int) -> RetentionRun | None:
    """Return a new row for this deletion, or None if one was begun within the last hour."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        if RetentionRun.objects.filter(started__gt=timezone.now() - RETENTION_INTERVAL).exists():
            return None
        return RetentionRun.objects.create(settled=settled)


def _delete(note: RetentionRun) -> RetentionRun:
    now, days = timezone.now(), settings.GRASP_RUNS_DAYS
    try:
        note.removed = {noun: import_string(path)() for noun, path in settings.GRASP_RETENTION.items()}
        note.searches, note.calls = delete_runs(days), prune_calls(days)
        note.sessions, _ = Session.objects.filter(expire_date__lt=now).delete()
        RefusedRequests.objects.filter(day__lt=(now - timedelta(days=NOTES_DAYS)).date()).delete()
        RetentionRun.objects.filter(started__lt=now - timedelta(days=NOTES_DAYS)).delete()
        note.finished = timezone.now()
    except Error as error:
        note.error = f"{type(error).__name__}: {error}"[:2000]
        raise
    finally:
        note.save()
    log.info(
        "retention", searches=note.searches, calls=note.calls, sessions=note.sessions, settled=note.settled,
        removed=note.removed,
    )  # fmt: skip
    return note
