"""Parts of a page that a script asks for alone, because the browser already shows the page around them."""

from __future__ import annotations

from django.http import HttpRequest

_HEADER = "X-Page-Part"


def wants_part(request: HttpRequest) -> bool:
    """Whether only the part is wanted; otherwise it is shown on a page of its own."""
    return bool(request.headers.get(_HEADER))


def wants_json(request: HttpRequest) -> bool:
    """Whether a script made the request, which shows the answer by itself."""
    return request.headers.get("Accept", "") == "application/json"
