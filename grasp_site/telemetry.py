"""Traces for OpenTelemetry: requests, searches with their stages, and jobs, sent to `OTEL_EXPORTER_OTLP_ENDPOINT`.

The settings name this module only if an endpoint is set; otherwise nothing of OpenTelemetry is loaded. Spans are made
when something has ended, from what is recorded anyway, and a thread sends them in batches: an endpoint that does not
answer costs the spans, and no search any time. No span has a question, an account or an address.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from structlog.contextvars import bound_contextvars, get_contextvars

from search.services.code_version import code_version
from search.services.observing.events import Event, JobEnded, SearchEnded

PARENT = "traceparent"
EXPORT_SECONDS = 5.0
"""Time limit of sending one batch."""
LAST_SECONDS = 1.0
"""Time that the end of a process waits for the last batch."""
NANOSECONDS = 1_000_000_000
FAILED = ("failed",)
_propagator = TraceContextTextMapPropagator()


def traced(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: one span for each request; what the request causes elsewhere becomes part of its trace."""

    def answer(request: HttpRequest) -> HttpResponse:
        given = request.META.get("HTTP_TRACEPARENT", "")
        span = tracer().start_span("request", context=_context(given), kind=SpanKind.SERVER)
        with bound_contextvars(**{PARENT: _written(span)}):
            response = get_response(request)
        match = request.resolver_match
        route = f"/{match.route}" if match else "unknown"
        span.update_name(f"{request.method} {route}")
        span.set_attributes({
            "http.request.method": str(request.method), "http.route": route,
            "http.response.status_code": response.status_code,
            "grasp.request_id": str(get_contextvars().get("request_id", "")),
        })  # fmt: skip
        if response.status_code >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end()
        return response

    return answer


def observe(event: Event) -> None:
    """Make the spans of an ended search or job (`settings.GRASP_OBSERVERS`)."""
    match event:
        case SearchEnded():
            _search(event)
        case JobEnded():
            _job(event)


def _search(event: SearchEnded) -> None:
    run = event.run
    ended = max([int(run.finished.timestamp() * NANOSECONDS) if run.finished else time.time_ns(), *event.ended])
    began = ended - int((run.seconds or 0.0) * NANOSECONDS)
    begins = [at - int(step.seconds * NANOSECONDS) for step, at in zip(event.steps, event.ended, strict=True)]
    # The seconds of a search and of its steps come from another clock, which may differ by microseconds.
    began = min([began, *begins])
    parent = _context(get_contextvars().get(PARENT, ""))
    if run.started is not None:
        asked, started = (int(at.timestamp() * NANOSECONDS) for at in (run.created, run.started))
        tracer().start_span("queue", context=parent, start_time=asked, kind=SpanKind.CONSUMER).end(max(asked, started))
    span = tracer().start_span("search", context=parent, start_time=began)
    span.set_attributes({
        "grasp.run": str(run.pk), "grasp.pipeline": run.pipeline, "grasp.release": run.release_name,
        "grasp.status": run.status, "grasp.request_id": str(get_contextvars().get("request_id", "")),
    })  # fmt: skip
    if run.status in FAILED:
        span.set_status(Status(StatusCode.ERROR, f"stage {(run.error or {}).get('stage', '')}"))
    inside = trace.set_span_in_context(span)
    for step, begin, at in zip(event.steps, begins, event.ended, strict=True):
        stage = tracer().start_span(step.name, context=inside, start_time=begin)
        stage.set_attributes({"grasp.role": step.role, "grasp.backend": step.backend, "grasp.status": step.status})
        stage.set_attributes({f"grasp.tokens.{kind.replace(' ', '_')}": count for kind, count in step.tokens.items()})
        if step.status in FAILED:
            stage.set_status(Status(StatusCode.ERROR))
        stage.end(at)
    span.end(ended)


def _job(event: JobEnded) -> None:
    job = event.job
    parent = _context(get_contextvars().get(PARENT, ""))
    span = tracer().start_span(f"job {job.kind}", context=parent, start_time=int(event.began * NANOSECONDS))
    span.set_attributes({
        "grasp.job": str(job.pk), "grasp.kind": job.kind, "grasp.status": event.state, "grasp.queue": job.queue,
        "grasp.knowledge_base": job.knowledge_base_name,
        "grasp.request_id": str(get_contextvars().get("request_id", "")),
    })  # fmt: skip
    if event.state in FAILED:
        span.set_status(Status(StatusCode.ERROR))
    span.end(int(event.ended * NANOSECONDS))


def tracer() -> Tracer:
    """Return the tracer of this process; a forked process gets one of its own, with a thread of its own."""
    return _provider(os.getpid()).get_tracer("grasp")


@lru_cache(maxsize=1)
def _provider(_process: int) -> TracerProvider:
    about: dict[str, str | int] = {
        "service.name": settings.GRASP_TRACES["service"], "service.version": code_version(),
        "process.pid": os.getpid(),
    }  # fmt: skip
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(
        endpoint=f"{settings.GRASP_TRACES['endpoint']}/v1/traces", headers=settings.GRASP_TRACES["headers"],
        timeout=EXPORT_SECONDS,
    )  # fmt: skip
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=1000))
    atexit.register(_end, provider)
    return provider


def _end(provider: TracerProvider) -> None:
    """Send what is left, within `LAST_SECONDS`: the end of a process does not wait for an endpoint that is away."""
    last = threading.Thread(target=provider.shutdown, name="last traces", daemon=True)
    last.start()
    last.join(LAST_SECONDS)


def _context(parent: Any) -> Context:
    """Return the context of a `traceparent`; an empty one if it is empty or invalid."""
    return _propagator.extract({PARENT: str(parent)}, context=Context())


def _written(span: Span) -> str:
    carrier: dict[str, str] = {}
    _propagator.inject(carrier, context=trace.set_span_in_context(span, Context()))
    return carrier[PARENT]
