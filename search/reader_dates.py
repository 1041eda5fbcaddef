"""Dates of all pages in the manner of the reader's language, also those that Django and its admin write by themselves.

Django would write them in one language for everybody, because its own translations are off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import partial
from typing import Any

from django.utils import formats

from search.language.reader import day, day_of_year, moment, month

_WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "j M Y": day,
    "j M": day_of_year,
    "j F": partial(day_of_year, short=False),
    "F Y": month,
    "j M Y, H:i": moment,
    "j M Y, H:i:s": partial(moment, seconds=True),
    "j M, H:i": lambda value: f"{day_of_year(value)}, {value:%H:%M}",
}
"""Format of Django for people → what writes it; all other formats are for machines."""
_plain = formats.date_format


def write_dates_for_readers() -> None:
    """Let Django write dates by `date_format`: in templates, and in the lists, fields and filters of the admin."""
    formats.date_format = date_format


def date_format(value: date | datetime | str, format: str | None = None, use_l10n: bool | None = None) -> str:
    """Return a date in a format of Django, or of one of its names, written for the reader if it is one for people."""
    write = _WRITTEN.get(formats.get_format(format or "DATE_FORMAT", use_l10n=use_l10n))
    return write(value) if write else _plain(value, format, use_l10n)
