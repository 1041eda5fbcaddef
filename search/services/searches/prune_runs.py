"""prune_runs: delete runs, and calls of language models, that are older than the site's retention time."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from search.models import SearchRun
from search.services.language_models.llm_calls import prune_calls
from search.services.searches.end_abandoned import end_abandoned_searches

BATCH = 500
"""Runs that one transaction deletes: about ten megabytes with their steps, so that locks are short."""


def prune_runs(days: int | None = None) -> int:
    """Delete runs with their steps that were asked more than `days` days ago, and return how many runs that were.

    None means the site's `GRASP_RUNS_DAYS`. Abandoned runs are ended first. Calls of language models of the same age
    are deleted too.
    """
    end_abandoned_searches()
    kept = settings.GRASP_RUNS_DAYS if days is None else days
    prune_calls(kept)
    return delete_runs(kept)


def delete_runs(days: int) -> int:
    """Delete runs with their steps that were asked more than `days` days ago, and return how many runs that were.

    Runs with feedback are kept, because question sets are made of it, and runs that somebody has saved.
    """
    oldest = timezone.now() - timedelta(days=days)
    deleted = 0
    old = (
        SearchRun.objects.filter(created__lt=oldest, feedback=None, saved=None).order_by().values_list("pk", flat=True)
    )
    while batch := list(old.all()[:BATCH]):
        _, by_model = SearchRun.objects.filter(pk__in=batch).delete()
        deleted += by_model.get(SearchRun._meta.label, 0)
    return deleted
