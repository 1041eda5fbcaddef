"""Keeps the series of a job short: a long one is thinned evenly, so that its shape stays and its size is bounded."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from search.models import JobMetric

MOST_POINTS = 1_000
"""Most points that are kept of one series."""


class Thinning:
    """The gaps between the steps that are kept of each series of a job: powers of two, doubled when a series is long.

    A step is kept if it is a multiple of the gap. Because gaps are powers of two, the steps of a doubled gap are among
    those that were kept before.
    """

    def __init__(self, job: UUID) -> None:
        self._job = job
        self._gaps: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    def keeps(self, name: str, step: int) -> bool:
        """Return whether a step of a series is kept."""
        if name not in self._gaps:
            self._load(name)
        return step % self._gaps[name] == 0

    def added(self, name: str, points: int) -> None:
        """Count points that were written, and thin the series while it is too long; in the caller's transaction."""
        if name not in self._gaps:
            self._load(name)
        self._counts[name] += points
        while self._counts[name] > MOST_POINTS:
            self._gaps[name] *= 2
            rows = JobMetric.objects.filter(job=self._job, name=name)
            rows.extra(where=["step %% %s <> 0"], params=[self._gaps[name]]).delete()
            self._counts[name] = rows.count()

    def _load(self, name: str) -> None:
        """Read what earlier attempts have kept of a series; its gap is the largest power of two in all its steps."""
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*), coalesce(bit_or(step), 0) FROM {JobMetric._meta.db_table} "
                "WHERE job_id = %s AND name = %s",
                [self._job, name],
            )
            count, steps = cursor.fetchone()
        self._counts[name] = count
        # A short series has not been thinned, whatever its steps have in common.
        self._gaps[name] = steps & -steps if steps and count >= MOST_POINTS // 2 else 1
