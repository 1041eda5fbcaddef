"""cancel_search: ask a search to stop."""

from __future__ import annotations

from django.db.models import F
from django.utils import timezone

from search.models import SearchRun
from search.services.access.visitors import NOBODY, User, Visitor, check_may_cancel
from search.services.searches.watch_search import ENDED, notices


def cancel_search(run: SearchRun, *, user: User, visitor: Visitor = NOBODY) -> SearchRun:
    """Ask a queued or running search to stop, and return its current row; an ended search stays unchanged.

    A queued search ends at once; a running one at its next check, within the time of one query. `user` None stands for
    the system itself. Raises NotAllowed if the caller neither requested the search nor is staff.
    """
    check_may_cancel(run, user, visitor)
    SearchRun.objects.filter(pk=run.pk, status=SearchRun.Status.QUEUED).update(
        status=SearchRun.Status.CANCELLED, cancel_requested=True, finished=timezone.now(), changes=F("changes") + 1
    )
    SearchRun.objects.filter(pk=run.pk, status=SearchRun.Status.RUNNING).update(cancel_requested=True)
    run.refresh_from_db(fields=["status", "cancel_requested", "finished", "changes"])
    notices().tell(str(run.pk), b"" if run.status in ENDED else None)
    return run
