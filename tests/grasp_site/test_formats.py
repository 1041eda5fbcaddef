"""Times in the admin's lists are written as on all other pages."""

from __future__ import annotations

from datetime import UTC, date, datetime

from django.contrib.admin.utils import display_for_value


def test_lists_write_days_and_times_as_all_pages_do() -> None:
    assert display_for_value(datetime(2026, 11, 3, 9, 39, tzinfo=UTC), "–") == "3 Nov 2026, 09:39"
    assert display_for_value(date(2026, 11, 3), "–") == "3 Nov 2026"
