"""Middleware that measures requests by the name of their view, which is the same for all ids in an address."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from grasp_site.metrics.counted import requests

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNKNOWN = "unknown"


def timed(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: measures the seconds until the answer is there; of a stream, until it begins."""

    def answer(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = get_response(request)
        match = request.resolver_match
        view = (match.view_name or match.route or UNKNOWN) if match else UNKNOWN
        method = request.method if request.method in METHODS else UNKNOWN
        status = f"{response.status_code // 100}xx"
        requests.labels(view, method, status).observe(time.perf_counter() - began)
        return response

    return answer
