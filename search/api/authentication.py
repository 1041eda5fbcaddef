"""Authentication of API callers by a token in the header `Authorization: Token …`."""

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
    """Authentication by `Authorization: Token …`.

    Other schemes are left to the other authentication classes. An invalid token is answered with 401.
    """

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the account and the token, or None when the request uses another scheme.

        Raises AuthenticationFailed when the token is missing or invalid.
        """
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != SCHEME.lower().encode():
            return None
        text = parts[1].decode("ascii", "replace") if len(parts) == 2 else ""
        token = find_token(text) if text else None
        if token is None:
            raise AuthenticationFailed(
                "This token is not valid: it was mistyped or revoked, it has expired, or its account is closed."
            )
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the scheme that a 401 response names in `WWW-Authenticate`."""
        return SCHEME


class LimitedBasic(BasicAuthentication):
    """Basic authentication: name and password with every request, where the site allows it.

    The authentication backend of the accounts limits failed attempts.
    """


class TokenScheme(OpenApiAuthenticationExtension):
    """The token scheme in the OpenAPI description."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the OpenAPI security scheme of tokens."""
        return {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Token …`, made in the admin or by `manage.py create_token`.",
        }  # fmt: skip
