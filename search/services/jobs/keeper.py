"""The keeper of a running job: renews its lease, writes its reports, and notices when it must stop."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from psycopg.errors import LockNotAvailable, QueryCanceled

from search.domain.run_context import LeaseLost
from search.models import Job
from search.services.jobs.ownership import ClockNow, JobClaim, lease
from search.services.jobs.reports import Reports
from search.services.jobs.resources import Resources
from search.services.jobs.wake import tell

BEAT_SECONDS = 1.0
"""Seconds between two renewals of the lease, and therefore until a cancel request is noticed."""
GRACE_SECONDS = 2.0
"""Seconds that the work has to end by itself when it must stop; then its process is killed."""
SETTLE_SECONDS = 900.0
"""Seconds for which the end of a job is written again while Postgres does not answer."""
PAUSE_SECONDS = 0.5

log = structlog.get_logger(__name__)


class KeeperVerdict(enum.Enum):
    """What a job has to do after a look at its row."""

    GO_ON = "go on"
    CANCEL = "cancel"
    LOST = "lost"


class JobKeeper:
    """Keeps one claim."""

    def __init__(self, claim: JobClaim, reports: Reports, resources: Resources) -> None:
        self._claim = claim
        self._reports = reports
        self._resources = resources
        self._renewed = time.monotonic()
        self.lost = LeaseLost()
        """What became of the job, once another process has it."""

    def beat(self) -> KeeperVerdict:
        """Renew the lease, write what is new, and say what the job has to do.

        If Postgres does not answer, the job goes on until the lease has ended: then another process may have it. No
        other process goes on with the job of a command, so that its work is only ended by what its row says.
        """
        began = time.monotonic()
        try:
            try:
                cancel = self._write()
            except DatabaseError as error:
                if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
                    raise
                # The work itself has the row, in a final write; nobody can claim the job meanwhile.
                cancel = self._asked()
        except LeaseLost as lost:
            self.lost = lost
            return KeeperVerdict.LOST
        except DatabaseError as error:
            connection.close()
            if self._claim.here or time.monotonic() - self._renewed < settings.GRASP_JOB_LEASE_SECONDS:
                return KeeperVerdict.GO_ON
            log.warning("job: the lease could not be renewed", job=str(self._claim.job), reason=str(error))
            return KeeperVerdict.LOST
        self._renewed = began
        return KeeperVerdict.CANCEL if cancel else KeeperVerdict.GO_ON

    def _asked(self) -> bool:
        """Return whether the cancellation was requested. Raises LeaseLost."""
        for requested in self._claim.rows().values_list("cancel_requested", flat=True):
            return requested is not None
        raise self._claim.lost()

    def finish(self, state: Job.State, reason: str = "", result: Any = None) -> bool:
        """Write the job's end with its last reports; return whether this process still owned it.

        It is tried again while Postgres does not answer; the fence keeps a late write from harming a new owner.
        """
        if state == Job.State.DONE:
            self._reports.finish()
        return self._until_written(lambda: self._claim.finish(state, reason=reason, result=result))

    def hand_back(self, reason: str, *, died: bool) -> bool:
        """Let another process go on with the job; `died` counts as one of the deaths after which it is given up."""
        return self._until_written(lambda: self._claim.hand_back(reason, died=died))

    def _until_written(self, end: Callable[[], None]) -> bool:
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            try:
                self._write(end)
                return True
            except LeaseLost as lost:
                self.lost = lost
                return False
            except DatabaseError as error:
                if connection.in_atomic_block:
                    raise
                connection.close()
                if time.monotonic() >= deadline:
                    log.error("job: its end could not be written", job=str(self._claim.job), reason=str(error))
                    return False
                time.sleep(PAUSE_SECONDS)

    def _write(self, end: Callable[[], None] | None = None) -> bool:
        """Renew the lease, write the reports, and then the end if there is one, all in one transaction.

        Returns whether the cancellation was requested. Raises LeaseLost.
        """
        changed = self._reports.new
        nested = connection.in_atomic_block
        with transaction.atomic():
            if not nested:
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '4s'")
            values = {
                "heartbeat": ClockNow(), "lease_until": ClockNow() + lease(), "progress": self._reports.estimate(),
                "resources": self._resources.measured(), "changes": F("changes") + int(changed),
            }  # fmt: skip
            if not self._claim.rows().update(**values):
                if not self._claim.take_back():
                    raise self._claim.lost()
                self._claim.rows().update(**values)
            lines, metrics = self._reports.write()
            asked = self._asked()
            if end is not None:
                end()
        self._reports.written(lines, metrics)
        if changed or end is not None:
            tell(self._claim.job)
        return asked
