"""Errors of the API as problem details (RFC 9457): a pointer for each fault, and a request id to look up in the log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions

from search.domain.errors import Fault, InvalidRequest, NotAllowed, NotNow, QueueFull, ServiceUnavailable
from search.services.observing.carried import request_id_from
from search.services.uploads.errors import NoSpace, UploadConflict, UploadTooLarge, WrongChecksum

CONTENT_TYPE = "application/problem+json"
RETRY_SECONDS = 5
WRONG_CHECKSUM = 460
"""Status of tus for a piece with another checksum than stated; it has no name in HTTP."""
_UPLOAD_CODES = {UploadTooLarge: 413, UploadConflict: 409, NoSpace: 507, WrongChecksum: WRONG_CHECKSUM}

log = structlog.get_logger(__name__)


def problem(
    request: HttpRequest,
    code: int,
    detail: str,
    *,
    title: str = "",
    faults: Sequence[Fault] = (),
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> JsonResponse:
    """Return a response with a problem document; `more` are its extension members (RFC 9457, section 3.2).

    No DRF renderer is used, because a problem is JSON whatever the caller accepts.
    """
    document = _document(request, code, detail, title=title, faults=faults, **more)
    return JsonResponse(document, status=code, headers=dict(headers or {}), content_type=CONTENT_TYPE)


def handle(error: Exception, context: Mapping[str, Any]) -> JsonResponse:
    """Return the problem for an exception of a view; DRF calls this for every exception (`EXCEPTION_HANDLER`)."""
    request = context["request"]._request
    if isinstance(error, InvalidRequest):
        return problem(request, 400, str(error), title="Invalid request", faults=error.faults)
    if isinstance(error, NotAllowed):
        return problem(request, 403, str(error))
    if isinstance(error, NotNow):
        code = 503 if isinstance(error, QueueFull) else 429
        return problem(request, code, str(error), headers={"Retry-After": str(math.ceil(error.seconds))})
    if isinstance(error, UploadTooLarge | UploadConflict | NoSpace | WrongChecksum):
        return problem(request, _UPLOAD_CODES[type(error)], str(error))
    if isinstance(error, ServiceUnavailable):
        return unavailable(request, error.service, error.reason)
    if isinstance(error, OperationalError | InterfaceError):
        log.warning("database away", reason=str(error))
        return unavailable(request, "Postgres", "Postgres does not answer; ask again in a moment.")
    if isinstance(error, Http404):
        return problem(request, 404, str(error) or "Nothing is at this address.")
    if isinstance(error, PermissionDenied):
        return problem(request, 403, "You may not do this.")
    if isinstance(error, exceptions.APIException):
        return _of_framework(request, error)
    return _unexpected(request, error)


def unavailable(request: HttpRequest, service: str, reason: str) -> JsonResponse:
    """Return the problem with status 503 that names a service which does not answer."""
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return problem(request, 503, reason, title=f"{service} is not available", headers=headers, service=service)


@csrf_exempt
def not_found(request: HttpRequest, *_args: object, **_kwargs: object) -> JsonResponse:
    """Return the problem with status 404 for a URL below the API that no route matches."""
    return problem(request, 404, "Nothing is at this address; /api/docs/ lists all addresses.")


def _of_framework(request: HttpRequest, error: exceptions.APIException) -> JsonResponse:
    headers = {}
    if auth := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth
    if seconds := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(seconds) + 1)
    pointed = getattr(error, "fault", None)
    faults = [pointed] if isinstance(pointed, Fault) else []
    return problem(request, error.status_code, _sentence(error.detail), faults=faults, headers=headers)


def _unexpected(request: HttpRequest, error: Exception) -> JsonResponse:
    identifier = request_id(request)
    log.error("unexpected error", request_id=identifier, path=request.path, exc_info=error)
    return problem(
        request,
        500,
        "An unexpected error occurred; the log has its details under the request_id.",
        request_id=identifier,
    )


def _document(
    request: HttpRequest, code: int, detail: str, *, title: str = "", faults: Sequence[Fault] = (), **more: Any
) -> dict[str, Any]:
    phrase = "Checksum Mismatch" if code == WRONG_CHECKSUM else HTTPStatus(code).phrase
    return {
        "type": f"urn:grasp:problem:{phrase.lower().replace(' ', '-')}",
        "title": title or phrase,
        "status": code,
        "detail": detail,
        "instance": request.path,
        "request_id": request_id(request),
        "errors": [fault.to_json() for fault in faults],
        **more,
    }


def request_id(request: HttpRequest) -> str:
    """Return the id of the request; `grasp_site.request_ids` has put a valid one into the header `X-Request-ID`."""
    return request_id_from(request.headers.get("X-Request-ID", ""))


def _sentence(detail: Any) -> str:
    if isinstance(detail, Mapping):
        return " ".join(_sentence(item) for item in detail.values())
    if isinstance(detail, list | tuple):
        return " ".join(_sentence(item) for item in detail)
    return str(detail)
