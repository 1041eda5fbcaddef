"""Responses to errors outside of views: problem details (RFC 9457) below /api/, HTML pages everywhere else."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views import csrf, defaults

from search.api import problems

API, VIEWER = "/api", "/api/docs/"


def of_api(request: HttpRequest) -> bool:
    """Return whether the request's address belongs to the API; the API viewer is a page for people and does not."""
    path = request.path_info
    return (path == API or path.startswith(f"{API}/")) and path != VIEWER


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if of_api(request):
        return problems.problem(request, 400, "The request is malformed.")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if of_api(request):
        return problems.problem(request, 403, "You may not do this.")
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    return problems.not_found(request) if of_api(request) else defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    if of_api(request):
        return problems.problem(
            request, 500, "An unexpected error occurred; the log has its details under the request_id."
        )
    return defaults.server_error(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    if of_api(request):
        return problems.problem(request, 403, f"CSRF Failed: {reason}")
    return csrf.csrf_failure(request, reason=reason)


def no_html_below_api(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], Any]:
    """Middleware: removes the Content-Type of the API's empty responses, because Django declares them as HTML.

    An example is the redirect to an address with a final slash.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if of_api(request) and not response.streaming and not response.content:
            response.headers.pop("Content-Type", None)
        return response

    return answer
