"""retention: end what nobody works on, delete what is older than the site keeps it, and note what was done."""

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
"""How often old rows are deleted. Searches that nobody works on are ended whenever this is called."""
NOTES_DAYS = 400
"""Days that numbers of refused requests, and notes of retention runs, are kept."""
LOCK = 0x6772617370
"""Number of the lock in Postgres under which one process decides that it deletes."""

log = structlog.get_logger(__name__)


def keep_up() -> RetentionRun | None:
    """End searches that nobody works on; delete what is old, unless that was done within the last hour.

    Several workers may call this at the same time: one of them deletes. Returns the note of what was deleted, None
    where it was not time yet. Raises what Django raises where the database fails, after a note of it.
    """
    settled = end_abandoned_searches()
    note = _claim(settled)
    return None if note is None else _delete(note)


def _claim(settled: int) -> RetentionRun | None:
    """Return a new note, None where somebody began within the last hour."""
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
        "retention",
        **note.removed,
        searches=note.searches,
        calls=note.calls,
        sessions=note.sessions,
        settled=note.settled,
    )
    return note
