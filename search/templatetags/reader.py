"""Dates and numbers of all templates in the manner of the reader's language: part of every template, without a load.

Django writes them in one language for everybody, because its own translations are off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date as Date
from datetime import datetime
from functools import partial
from typing import Any

from django import template
from django.template.defaultfilters import date as plain_date
from django.template.defaultfilters import floatformat as plain_float

from search.language.reader import day, day_of_year, localised, moment

register = template.Library()

_WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "j M Y": day,
    "j M": day_of_year,
    "j M Y, H:i": moment,
    "j M Y, H:i:s": partial(moment, seconds=True),
    "j M, H:i": lambda value: f"{day_of_year(value)}, {value:%H:%M}",
}
"""Format of Django that templates use for people → what writes it; all other formats are for machines."""
_DECIMAL = re.compile(r"-?\d+\.\d+")


@register.filter(expects_localtime=True, is_safe=False)
def date(value: Date | datetime | None, form: str | None = None) -> str:
    """Return a date in a format of Django, written for the reader if it is one for people."""
    write = _WRITTEN.get(form or "")
    return write(value) if write and value else plain_date(value, form)


@register.filter(is_safe=True)
def floatformat(value: Any, places: str | int = -1) -> str:
    """Return a number with some decimals, with the reader's decimal mark."""
    said = plain_float(value, places)
    return localised(said) if _DECIMAL.fullmatch(said) else said
