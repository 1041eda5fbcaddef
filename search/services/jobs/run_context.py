"""The run context of work that is no job, and the parts that a job's context adds."""

from __future__ import annotations

from typing import Any

import orjson
from django.db import connection, transaction
from django.db.models import F

from search.domain.run_context import Progress, RunContext
from search.models import Job
from search.services.jobs.ownership import JobClaim
from search.services.searches.storable import stored_json


def plain_run(progress: Progress | None = None) -> RunContext:
    """Return the context of work that is no job: final writes are plain transactions."""
    if progress is None:
        return RunContext(fenced=transaction.atomic)
    return RunContext(fenced=transaction.atomic, progress=progress)


class RowNotes:
    """Notes in the row of a job (run_context.Notes)."""

    def __init__(self, claim: JobClaim) -> None:
        self._claim = claim

    def put(self, name: str, value: Any) -> None:
        """Keep a value, in the caller's transaction if there is one. Raises LeaseLost if the claim has ended."""
        with transaction.atomic(savepoint=False):
            rows = self._claim.rows().select_for_update(no_key=True).only("notes")
            row = rows.first() or (self._claim.take_back() and rows.first())
            if not row:
                raise self._claim.lost()
            Job.objects.filter(pk=row.pk).update(
                notes={**row.notes, name: orjson.loads(stored_json(value))}, changes=F("changes") + 1
            )

    def get(self, name: str) -> Any:
        """Return the value kept under a name, or None when there is none."""
        row = Job.objects.only("notes").get(pk=self._claim.job)
        return row.notes.get(name)


def in_callers_transaction() -> bool:
    """Whether the caller's transaction is open, so that no other process sees the job's row."""
    return connection.in_atomic_block
