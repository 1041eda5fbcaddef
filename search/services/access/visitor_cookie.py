"""visitor_cookie: how a visitor without an account shows later that a search is theirs.

Whoever asks gets a random key in a signed cookie, which scripts cannot read; the run keeps its hash. A program without
cookies has a token instead. Nobody gets the cookie for looking.
"""

from __future__ import annotations

import secrets
from dataclasses import replace

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from search.models import ApiToken
from search.services.access.visitors import Visitor

COOKIE = "visitor"
SALT = "search.visitor"
A_YEAR = 365 * 24 * 3600


def visitor_of(request: HttpRequest) -> Visitor:
    """Return what a request says of its caller beyond the account; without a cookie of ours `key` is empty."""
    token = getattr(request, "auth", None)
    return Visitor(
        address=request.META.get("REMOTE_ADDR", ""),
        key=request.get_signed_cookie(COOKIE, default="", salt=SALT) or "",
        token=token.pk if isinstance(token, ApiToken) else None,
    )


def asking_visitor(request: HttpRequest) -> Visitor:
    """Return the same with a new key where a visitor without an account has none; `keep_visitor` sends it along."""
    visitor = visitor_of(request)
    if visitor.key or request.user.is_authenticated:
        return visitor
    return replace(visitor, key=secrets.token_urlsafe(16))


def keep_visitor(request: HttpRequest, response: HttpResponseBase, visitor: Visitor) -> None:
    """Send a visitor's key along with an answer, so that the next request brings it."""
    if visitor.key and not request.user.is_authenticated:
        response.set_signed_cookie(
            COOKIE, visitor.key, salt=SALT, max_age=A_YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
        )
