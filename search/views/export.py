"""The results of a search as a table to download."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.downloads import csv_answer as csv_answer
from search.services.searches.describe_search import describe_search
from search.services.searches.export_results import export_results
from search.views.finding import find_run
from search.views.unavailable import says_what_is_down


@require_safe
@never_cache
@says_what_is_down
def results_csv(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Return the present results of a search as a CSV file, one row for each result."""
    described = describe_search(find_run(request, run_id, stored=True))
    return csv_answer(request, export_results(described), f"search-{run_id}.csv")
