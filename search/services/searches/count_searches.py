"""count_searches: the searches of people on each of the last days, by their outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Count
from django.db.models.functions import TruncDate

from search.models import SearchRun

SHOWN_DAYS = 14
OUTCOMES = {
    SearchRun.Status.DONE: "answered", SearchRun.Status.FAILED: "failed", SearchRun.Status.CANCELLED: "cancelled",
}  # fmt: skip
"""Statuses of ended searches, and the fields of SearchDay that count them; the others are open."""


@dataclass(slots=True)
class SearchDay:
    """The numbers of searches that were requested on one day (UTC), by outcome; `open` ones have not ended."""

    day: date
    answered: int = 0
    failed: int = 0
    cancelled: int = 0
    open: int = 0

    @property
    def total(self) -> int:
        """All searches of the day."""
        return self.answered + self.failed + self.cancelled + self.open


def count_searches(today: date, days: int = SHOWN_DAYS) -> list[SearchDay]:
    """Return the last `days` days up to `today`, the earliest first, by one grouped statement over one index.

    Searches of evaluations do not count.
    """
    found = [SearchDay(today - timedelta(days=back)) for back in reversed(range(days))]
    since = datetime.combine(found[0].day, time.min, tzinfo=UTC)
    rows = SearchRun.objects.of_people().filter(created__gte=since)
    grouped = rows.annotate(day=TruncDate("created", tzinfo=UTC)).values_list("day", "status")
    by_day = {each.day: each for each in found}
    for day, status, number in grouped.annotate(number=Count("*")).order_by():
        if day in by_day:
            name = OUTCOMES.get(status, "open")
            setattr(by_day[day], name, getattr(by_day[day], name) + number)
    return found


def totals(days: Sequence[SearchDay]) -> SearchDay:
    """Return the sums over some days; `day` is the last one."""
    return SearchDay(
        days[-1].day, sum(each.answered for each in days), sum(each.failed for each in days),
        sum(each.cancelled for each in days), sum(each.open for each in days),
    )  # fmt: skip
