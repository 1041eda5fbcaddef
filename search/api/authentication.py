"""How a program says who it is: by a token, in the header `Authorization: Token …`."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, BasicAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from search.models import ApiToken
from search.services.access.tokens import find_token

SCHEME = "Token"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Token …`. Another scheme is left to others; a token that opens nothing is answered with 401."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the account and the token; AuthenticationFailed where there is no such token."""
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != SCHEME.lower().encode():
            return None
        text = parts[1].decode("ascii", "replace") if len(parts) == 2 else ""
        token = find_token(text) if text else None
        if token is None:
            raise AuthenticationFailed("This token opens nothing: it was mistyped, revoked, or its account is closed.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 names as the way to say who one is."""
        return SCHEME


class LimitedBasic(BasicAuthentication):
    """Name and password with every request, where the site allows it; the accounts' backend limits failures."""


class TokenScheme(OpenApiAuthenticationExtension):
    """How the API's description tells of tokens."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return an OpenAPI security scheme."""
        return {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Token …`, made in the admin or by `manage.py create_token`.",
        }  # fmt: skip
