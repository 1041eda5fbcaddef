"""Tables as files to download."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from search.tables import csv_lines

BYTE_ORDER_MARK = "\ufeff"
"""Without this mark, spreadsheet programs do not recognise UTF-8."""


def csv_answer(request: HttpRequest, rows: Iterable[Sequence[Any]], name: str) -> Any:
    """Return rows as a stream of CSV, which is sent while they are read; without a body for HEAD.

    `search.tables` makes the cells harmless.
    """
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return HttpResponse(headers=dict(answer.items())) if request.method == "HEAD" else answer


def _lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield BYTE_ORDER_MARK
    yield from csv_lines(rows)
