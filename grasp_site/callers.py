"""Declares who calls, for the audit log: the door, the address and the account of a request."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from grasp_site.errors import of_api
from search.models import AuditEntry
from search.services.audit.note import Caller, calling


def declared(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, placed after the authentication: declares the caller of the request.

    The account is read when something is noted, because the API knows the account of a token only in its views.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        door = AuditEntry.Door.API if of_api(request) else AuditEntry.Door.PAGE
        caller = Caller(door.value, request.META.get("REMOTE_ADDR", ""), lambda: getattr(request, "user", None))
        with calling(caller):
            return get_response(request)

    return answer
