"""tokens: make, find and revoke the tokens with which programs use the API."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from search.models import ApiToken
from search.models.access import digest_of
from search.services.audit.note import note

MARK = "grasp_"
"""Beginning of every token, so that people recognise a token in a file or a log."""
KEPT_CHARACTERS = 10
"""Number of a token's first characters that are stored, so that people can recognise it; four of them are random."""
LAST_USE_INTERVAL = timedelta(minutes=1)
"""Precision of the time of the last use, so that not every request writes the row."""


def make_token(user: User, name: str = "") -> tuple[ApiToken, str]:
    """Make a token for an account and return its row and its text. Only a hash of the text is stored."""
    text = f"{MARK}{secrets.token_urlsafe(32)}"
    row = ApiToken(user=user, name=name, beginning=text[:KEPT_CHARACTERS], digest=digest_of(text))
    row.full_clean()
    row.save()
    note("token made", row)
    return row, text


def find_token(text: str) -> ApiToken | None:
    """Return the token with its account; None if it does not exist, is revoked, or its account is closed."""
    found = ApiToken.objects.select_related("user").filter(digest=digest_of(text), revoked=None, user__is_active=True)
    token = found.first()
    if token is None:
        return None
    now = timezone.now()
    if token.last_used is None or now - token.last_used > LAST_USE_INTERVAL:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token


def revoke_token(token: ApiToken) -> None:
    """Revoke a token, so that it gives no access; its row is kept."""
    if ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=timezone.now()):
        note("token revoked", token)
    token.refresh_from_db()
