"""Celery tasks: retry rules, then a call to a service."""

from __future__ import annotations

from celery import shared_task

from search.services import run_search as service


@shared_task(name="search.tasks.run_search", ignore_result=True, acks_late=True)
def run_search(run_id: str) -> None:
    """Execute one search. What failed is in its row, which is what people look at; asking again is theirs to decide."""
    service.run_search(run_id, live=True)
