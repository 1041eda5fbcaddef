"""count_refused: count the refused requests by day, door and kind. The texts of the requests are not stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F, Sum
from django.utils import timezone

from search.domain.errors import Fault
from search.models import RefusedRequests
from search.services.observing.events import SearchesRefused, tell
from search.services.observing.rest import GATHERED

REQUEST_PARTS = ("question", "knowledge_base", "pipeline", "k", "plan", "settings", "wait")
"""Parts of a request that can be wrong; everything else counts as `other`."""
LIMIT, FULL = "too many", "queue full"
SHOWN_DAYS = 7

log = structlog.get_logger(__name__)


def count_refused(origin: str, kind: str, number: int = 1) -> None:
    """Count refused requests, usually one. If the database fails, only the count is lost."""
    gather = GATHERED.get()
    if gather is not None and kind in (LIMIT, FULL):
        gather(origin, kind)
        return
    tell(SearchesRefused(origin, kind, number))
    try:
        with transaction.atomic():
            RefusedRequests.objects.bulk_create(
                [RefusedRequests(day=timezone.now().date(), origin=origin, kind=kind, number=0)], ignore_conflicts=True
            )
            RefusedRequests.objects.filter(day=timezone.now().date(), origin=origin, kind=kind).update(
                number=F("number") + number
            )
    except DatabaseError as error:
        log.warning("refused request not counted", error=type(error).__name__)


@dataclass(frozen=True, slots=True)
class RefusedKind:
    """How many requests of one kind were refused on each of some days, the latest day first."""

    kind: str
    numbers: list[int]


def refused_by_day(today: date) -> tuple[list[date], list[RefusedKind]]:
    """Return the last seven days, the latest first, and the kinds of requests that were refused on them."""
    days = [today - timedelta(days=back) for back in range(SHOWN_DAYS)]
    rows = RefusedRequests.objects.filter(day__gte=days[-1]).values_list("kind", "day").annotate(sum=Sum("number"))
    found = {(kind, day): number for kind, day, number in rows.order_by()}
    kinds = sorted({kind for kind, _ in found}, key=lambda kind: -sum(found.get((kind, day), 0) for day in days))
    return days, [RefusedKind(kind, [found.get((kind, day), 0) for day in days]) for kind in kinds]


def kind_of(faults: Iterable[Fault]) -> str:
    """Return the part of the request that the first fault is in."""
    first = next(iter(faults)).pointer.lstrip("/").partition("/")[0]
    return first if first in REQUEST_PARTS else "other"
