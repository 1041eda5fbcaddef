"""Pages are written for the reader whom the browser describes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.template import Context, Template
from django.test import Client

from search.language.reader import language, reading_in


@pytest.mark.django_db
@pytest.mark.parametrize(("asked", "expected"), [("de-AT,de;q=0.9,en;q=0.5", "de"), ("it,fr;q=0.2", "fr"), ("", "en")])
def test_each_request_sets_the_language_of_its_reader(client: Client, asked: str, expected: str) -> None:
    with reading_in("es"):
        answer = client.get("/words/", headers={"accept-language": asked})
        assert language() == expected
    assert "Accept-Language" in answer["Vary"]
    assert (f'lang="{expected}">Schritt' in answer.content.decode()) == (expected == "de")


@pytest.mark.parametrize(
    ("written", "english", "german"),
    [
        ('{{ at|date:"j M Y, H:i" }}', "3 Nov 2026, 09:05", "03.11.2026, 09:05"),
        ("{{ at|date:'c' }}", "2026-11-03T09:05:00+00:00", "2026-11-03T09:05:00+00:00"),
        ("{{ none|date:'j M Y' }}", "", ""),
        ("{{ share|floatformat:2 }}", "0.25", "0,25"),
        ("{% load search_text %}{{ many|thousands }} {{ share|score:1 }}", "12,345 0.2", "12.345 0,2"),
    ],
)
def test_templates_write_dates_and_numbers_for_the_reader(written: str, english: str, german: str) -> None:
    values: dict[str, Any] = {"at": datetime(2026, 11, 3, 9, 5, tzinfo=UTC), "none": None, "share": 0.25, "many": 12345}
    for code, expected in (("en", english), ("de", german)):
        with reading_in(code):
            assert Template(written).render(Context(values)) == expected
