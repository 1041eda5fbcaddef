"""visitor_cookie: a cookie by which a visitor without an account is recognised as the owner of a search.

A visitor who requests a search gets a random key in a signed cookie, which scripts cannot read; the run stores a hash
of the key. A program without cookies uses a token instead. Visitors who only read pages get no cookie.
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
    """Return the caller of a request, apart from the account. `key` is empty if the request has no valid cookie."""
    token = getattr(request, "auth", None)
    return Visitor(
        address=request.META.get("REMOTE_ADDR", ""),
        key=request.get_signed_cookie(COOKIE, default="", salt=SALT) or "",
        token=token.pk if isinstance(token, ApiToken) else None,
    )


def asking_visitor(request: HttpRequest) -> Visitor:
    """Return the caller, with a new key if it has neither an account nor a key; `keep_visitor` sends the key."""
    visitor = visitor_of(request)
    if visitor.key or request.user.is_authenticated:
        return visitor
    return replace(visitor, key=secrets.token_urlsafe(16))


def keep_visitor(request: HttpRequest, response: HttpResponseBase, visitor: Visitor) -> None:
    """Set the cookie with the visitor's key on a response, so that the next request contains it."""
    if visitor.key and not request.user.is_authenticated:
        response.set_signed_cookie(
            COOKIE, visitor.key, salt=SALT, max_age=A_YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
        )
