"""Every request has an id: in each line of the log that it causes, in its answer, and in the problems of the API.

The id is that of the header `X-Request-ID`, which a proxy may set, or a new one. It follows the request into the
workers (`search.services.observing.carried`).
"""

import time
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse
from structlog.contextvars import bound_contextvars

from search.services.observing.carried import request_id_from

HEADER = "X-Request-ID"
READS = frozenset({"GET", "HEAD", "OPTIONS"})

log = structlog.get_logger(__name__)


def with_request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, placed first: gives the request its id, and logs it when it is answered.

    Requests that change something and those that fail by a fault of the site are logged at the level INFO and above;
    the many others at DEBUG. The line has the path without the query, because the query may contain the question.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        identifier = request_id_from(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.META["HTTP_X_REQUEST_ID"] = identifier
        began = time.perf_counter()
        with bound_contextvars(request_id=identifier):
            response = get_response(request)
            response.headers.setdefault(HEADER, identifier)
            _log(request, response, time.perf_counter() - began)
        return response

    return answer


def _log(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    failed = response.status_code >= 500
    write = log.warning if failed else log.debug if request.method in READS else log.info
    write(
        "request", method=request.method, path=request.path, status=response.status_code, seconds=round(seconds, 4),
        address=request.META.get("REMOTE_ADDR", ""),
    )  # fmt: skip
