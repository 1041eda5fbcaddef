"""Numbers of all templates in the manner of the reader's language: part of every template, without a load.

Django writes them in one language for everybody, because its own translations are off. Dates: `search.reader_dates`.
"""

from __future__ import annotations

import re
from typing import Any

from django import template
from django.template.defaultfilters import floatformat as plain_float

from search.language.reader import localised

register = template.Library()

_DECIMAL = re.compile(r"-?\d+\.\d+")


@register.filter(is_safe=True)
def floatformat(value: Any, places: str | int = -1) -> str:
    """Return a number with some decimals, with the reader's decimal mark."""
    said = plain_float(value, places)
    return localised(said) if _DECIMAL.fullmatch(said) else said
