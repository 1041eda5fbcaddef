"""tokens: make, find and revoke the tokens with which programs use the API."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from search.models import ApiToken
from search.models.access import digest_of
from search.services.audit.note import note

MARK = "grasp_"
"""Beginning of every token, so that people recognise a token in a file or a log."""
KEPT_CHARACTERS = 10
"""Number of a token's first characters that are stored, so that people can recognise it; four of them are random."""
MOST_DAYS = 36_500
LAST_USE_INTERVAL = timedelta(minutes=1)
"""Precision of the time of the last use, so that not every request writes the row."""


def make_token(user: User, name: str = "", days: int | None = None) -> tuple[ApiToken, str]:
    """Make a token for an account and return its row and its text. Only a hash of the text is stored.

    It works for `days`, 0 for ever; None means the site's `GRASP_TOKEN_DAYS`. Raises ValidationError.
    """
    days = settings.GRASP_TOKEN_DAYS if days is None else days
    if not 0 <= days <= MOST_DAYS:
        raise ValidationError(f"A token works for 1 to {MOST_DAYS:,} days, or with 0 until it is revoked; not {days}.")
    text = f"{MARK}{secrets.token_urlsafe(32)}"
    row = ApiToken(user=user, name=name, beginning=text[:KEPT_CHARACTERS], digest=digest_of(text))
    row.expires = timezone.now() + timedelta(days=days) if days else None
    row.full_clean()
    row.save()
    note("token made", row)
    return row, text


def find_token(text: str) -> ApiToken | None:
    """Return the token with its account; None if it does not exist, is revoked or expired, or its account is closed."""
    found = ApiToken.objects.select_related("user").filter(digest=digest_of(text), revoked=None, user__is_active=True)
    now, token = timezone.now(), found.first()
    if token is None or is_expired(token):
        return None
    if token.last_used is None or now - token.last_used > LAST_USE_INTERVAL:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token


def is_expired(token: ApiToken) -> bool:
    """Whether the time of a token is over."""
    return token.expires is not None and token.expires <= timezone.now()


def revoke_token(token: ApiToken) -> None:
    """Revoke a token, so that it gives no access; its row is kept."""
    if ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=timezone.now()):
        note("token revoked", token)
    token.refresh_from_db()
