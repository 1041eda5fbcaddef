"""Errors outside of any view: problem details below /api/, pages everywhere else."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views import csrf, defaults

from search.api import problems

API, VIEWER = "/api", "/api/docs/"


def of_api(request: HttpRequest) -> bool:
    """Whether an address belongs to programs; the viewer is for people."""
    path = request.path_info
    return (path == API or path.startswith(f"{API}/")) and path != VIEWER


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if of_api(request):
        return problems.problem(request, 400, "The request is malformed.")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if of_api(request):
        return problems.problem(request, 403, "This is not yours to do.")
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    return problems.not_found(request) if of_api(request) else defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    if of_api(request):
        return problems.problem(request, 500, "Something broke; the log has it under request_id.")
    return defaults.server_error(request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    if of_api(request):
        return problems.problem(request, 403, f"CSRF Failed: {reason}")
    return csrf.csrf_failure(request, reason=reason)


def no_html_below_api(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], Any]:
    """Middleware: an empty answer of the API, such as a redirect to the address with its slash, says it is no HTML."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if of_api(request) and not response.streaming and not response.content:
            response.headers.pop("Content-Type", None)
        return response

    return answer
