"""Counts events (`settings.GRASP_OBSERVERS`)."""

from __future__ import annotations

from grasp_site.metrics import counted
from search.services.observing.events import (
    Event,
    JobEnded,
    LeaseWasLost,
    ModelCalled,
    SearchEnded,
    SearchesRefused,
    SearchEvaluated,
)

HINDERED = ("degraded", "failed")


def count(event: Event) -> None:
    """Count one event."""
    match event:
        case SearchEnded():
            _search(event)
        case JobEnded():
            counted.jobs.labels(event.job.kind, event.state).observe(max(0.0, event.ended - event.began))
        case LeaseWasLost():
            counted.lost_leases.labels(event.kind).inc()
        case ModelCalled():
            _call(event)
        case SearchesRefused():
            counted.refused.labels(event.door, event.kind).inc(event.number)
        case SearchEvaluated():
            counted.evaluated.labels(event.pipeline, event.status).inc()


def _search(event: SearchEnded) -> None:
    run = event.run
    counted.searches.labels(run.pipeline, run.status).observe(run.seconds or 0.0)
    if run.started is not None:
        counted.waited.observe(max(0.0, (run.started - run.created).total_seconds()))
    for step in event.steps:
        counted.stages.labels(run.pipeline, step.name).observe(step.seconds)
        if step.status in HINDERED:
            counted.degraded.labels(run.pipeline, step.name, step.status).inc()


def _call(event: ModelCalled) -> None:
    counted.model_calls.labels(event.model, event.purpose, "failed" if event.error else "answered").inc()
    counted.model_seconds.labels(event.model).observe(event.seconds)
    for kind, number in event.tokens.items():
        counted.model_tokens.labels(event.model, kind).inc(number)
    if event.price is not None:
        counted.model_price.labels(event.model, event.currency).inc(event.price)
