"""The page that names an unavailable service, shown instead of an unexpected error."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from search.domain.errors import NotNow, QueueFull, ServiceUnavailable

CSRF_FIELD = "csrfmiddlewaretoken"
P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)


def says_what_is_down(
    view: Callable[Concatenate[HttpRequest, P], R],
) -> Callable[Concatenate[HttpRequest, P], R | HttpResponse]:
    """Return the view so that an unavailable service leads to a page with status 503 that names the service.

    A request that is refused for the moment leads to a page that says until when, unless the view has its own.
    """

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> R | HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except ServiceUnavailable as error:
            return unavailable(request, error.service, error.reason)
        except NotNow as error:
            shown = {"code": status_of(error), "reason": error.reason}
            return not_now(render(request, "search/not_now.html", shown, status=status_of(error)), error)
        except (OperationalError, InterfaceError):
            return unavailable(request, "Postgres", "the database does not answer; try again in a moment.")

    return answer


def status_of(error: NotNow) -> int:
    """Return the HTTP status of a page that refuses something for the moment: 503 for a full queue, otherwise 429."""
    return 503 if isinstance(error, QueueFull) else 429


def not_now(page: HttpResponse, error: NotNow) -> HttpResponse:
    """Return the page with the header `Retry-After`, in seconds."""
    page["Retry-After"] = str(math.ceil(error.seconds))
    return page


def unavailable(request: HttpRequest, service: str, reason: str) -> HttpResponse:
    """Return the page with status 503 that names a service and the reason why it cannot be used.

    What was sent can be sent again from it, so that nobody types a question twice; passwords are not repeated.
    """
    # Django's views of passwords declare them by this attribute (`sensitive_post_parameters`).
    secret = getattr(request, "sensitive_post_parameters", None)
    fields = [] if secret else request.POST.lists()
    sent = [(name, value) for name, values in fields for value in values if name != CSRF_FIELD]
    context = {"service": service, "reason": reason, "sent": sent}
    page = render(request, "search/unavailable.html", context, status=503)
    page["Retry-After"] = "5"
    return page
