"""`/metrics` of the web process, and of workers at an address of their own (`GRASP_METRICS_LISTEN`)."""

from __future__ import annotations

import hmac
import threading
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import REGISTRY, Collector

from grasp_site.metrics import counted, files
from grasp_site.security import inside

BEARER = "Bearer "
MANY_FILES = 64
"""Files from which on those of ended processes are added up when somebody asks."""
CLOSED = "Metrics are closed here: set GRASP_METRICS_TOKEN or GRASP_METRICS_NETWORKS to open them.\n"
REFUSED = "Metrics are for those who send the token of GRASP_METRICS_TOKEN, or ask from GRASP_METRICS_NETWORKS.\n"
TEXT = "text/plain; charset=utf-8"

log = structlog.get_logger(__name__)


def refusal(authorization: str, address: str) -> str:
    """Return why somebody may not read the metrics, or an empty string if they may.

    `authorization` is the header with the token, `address` the IP address of the caller.
    """
    if not files.wanted():
        return CLOSED
    token = settings.GRASP_METRICS_TOKEN
    if token and hmac.compare_digest(authorization.encode(), f"{BEARER}{token}".encode()):
        return ""
    return "" if inside(address, settings.GRASP_METRICS_NETWORKS) else REFUSED


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics of the site and of all processes of this machine, in Prometheus' text format."""
    if reason := refusal(request.headers.get("Authorization", ""), request.META.get("REMOTE_ADDR", "")):
        return HttpResponse(reason, status=403, content_type=TEXT)
    return HttpResponse(written(_site_state()), content_type=CONTENT_TYPE_LATEST)


def written(*collectors: Collector) -> bytes:
    """Return what is counted, and what the collectors measure, in Prometheus' text format."""
    registry = CollectorRegistry()
    if counted.SHARED:
        if len(list(files.folder().glob("*.db"))) > MANY_FILES:
            files.add_up_ended(files.folder())
        MultiProcessCollector(registry, str(files.folder()))
        ProcessCollector(registry=registry)
    else:
        registry.register(REGISTRY)
    for collector in collectors:
        registry.register(collector)
    return generate_latest(registry)


@lru_cache(maxsize=1)
def _site_state() -> Collector:
    # Only the web process needs what this imports.
    from grasp_site.metrics.state import SiteState

    return SiteState()


class _Handler(BaseHTTPRequestHandler):
    """Answers `/metrics` of a worker."""

    def do_GET(self) -> None:
        """Answer with the metrics, or with the reason why not."""
        reason = refusal(self.headers.get("Authorization", ""), self.client_address[0])
        known = self.path.partition("?")[0] == "/metrics"
        code, content = (200, written()) if known and not reason else (403 if known else 404, reason.encode())
        self.send_response(code)
        self.send_header("Content-Type", CONTENT_TYPE_LATEST if code == 200 else TEXT)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: Prometheus asks every few seconds."""


def serve_metrics() -> ThreadingHTTPServer | None:
    """Serve the metrics of this machine's processes at `GRASP_METRICS_LISTEN`, in a thread; None if it is not set.

    If another process of this machine has the address, it serves the same metrics, and nothing is done here.
    """
    if settings.GRASP_METRICS_LISTEN is None:
        return None
    try:
        server = ThreadingHTTPServer(settings.GRASP_METRICS_LISTEN, _Handler)
    except OSError as error:
        log.warning("metrics are not served by this process", at=settings.GRASP_METRICS_LISTEN, reason=str(error))
        return None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
