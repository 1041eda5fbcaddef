"""The results of a search as a table to download."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.services.searches.describe_search import describe_search
from search.services.searches.export_results import export_results
from search.views.finding import find_run
from search.views.unavailable import says_what_is_down

BYTE_ORDER_MARK = "\ufeff"
"""Without this mark, spreadsheet programs do not recognise UTF-8."""


class _Line:
    """A file-like object whose `write` returns the written text."""

    def write(self, line: str) -> str:
        return line


@require_safe
@never_cache
@says_what_is_down
def results_csv(request: HttpRequest, run_id: UUID) -> Any:
    """Return the present results of a search as a CSV stream, one row for each result."""
    described = describe_search(find_run(request, run_id))
    return csv_answer(request, export_results(described), f"search-{run_id}.csv")


def csv_answer(request: HttpRequest, rows: Iterable[Sequence[str | int | float]], name: str) -> Any:
    """Return rows as a stream of CSV, which is sent while they are read; without a body for HEAD."""
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return HttpResponse(headers=dict(answer.items())) if request.method == "HEAD" else answer


def _lines(rows: Iterable[Sequence[str | int | float]]) -> Iterator[str]:
    yield BYTE_ORDER_MARK
    writer = csv.writer(_Line())
    for row in rows:
        yield writer.writerow(row)
