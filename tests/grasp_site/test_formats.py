"""Times that Django and its admin write are those of the reader's language, as on all other pages."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.contrib.admin.utils import display_for_value
from django.contrib.auth.models import User
from django.template import Context, Template
from django.test import Client
from django.urls import reverse
from django.utils import formats

from search.language.reader import reading_in
from search.models import Job

ONCE = datetime(2026, 11, 3, 9, 39, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "moment", "day", "month", "day_of_month"),
    [
        ("en", "3 Nov 2026, 09:39", "3 Nov 2026", "November 2026", "3 November"),
        ("de", "03.11.2026, 09:39", "03.11.2026", "November 2026", "3. November"),
        ("fr", "3 nov. 2026, 09:39", "3 nov. 2026", "novembre 2026", "3 novembre"),
        ("es", "3 nov 2026, 09:39", "3 nov 2026", "noviembre de 2026", "3 de noviembre"),
    ],
)
def test_lists_write_days_and_times_as_all_pages_do(
    language: str, moment: str, day: str, month: str, day_of_month: str
) -> None:
    with reading_in(language):
        assert display_for_value(ONCE, "–") == moment
        assert display_for_value(date(2026, 11, 3), "–") == day
        assert Template('{{ once|date:"j M Y, H:i" }}').render(Context({"once": ONCE})) == moment
        # The admin's filter by date.
        assert formats.date_format(ONCE, "YEAR_MONTH_FORMAT") == month
        assert formats.date_format(ONCE, "MONTH_DAY_FORMAT") == day_of_month


def test_dates_for_machines_stay_as_they_are() -> None:
    with reading_in("de"):
        shown = Template('{{ once|date:"c" }} {{ once|date:"H:i:s" }} {{ none|date:"j M Y" }}')
        assert shown.render(Context({"once": ONCE, "none": None})) == "2026-11-03T09:39:00+00:00 09:39:00 "


@pytest.mark.django_db
def test_the_admin_asked_for_in_german_writes_german_dates(client: Client) -> None:
    client.force_login(User.objects.create_superuser("admin", password="x"))
    job = Job.objects.create(kind="index", specification_hash="1", knowledge_base_name="films")
    Job.objects.update(created=ONCE)
    for address in (reverse("admin:search_job_changelist"), reverse("admin:search_job_change", args=[job.pk])):
        with reading_in("en"):
            page = client.get(address, headers={"Accept-Language": "de-AT,en;q=0.5"}).content.decode()
        assert "03.11.2026, 09:39" in page
        assert "3 Nov 2026" not in page
