"""tokens: make, find and revoke the keys of programs."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from search.models import ApiToken
from search.models.access import digest_of

MARK = "grasp_"
"""What every token begins with, so that one in a file or a log is recognised for what it is."""
KEPT_CHARACTERS = 10
"""Characters of a token that are kept to recognise it by: four of them are random."""
LAST_USE_INTERVAL = timedelta(minutes=1)
"""How exactly the last use is noted: a row is not written for every request."""


def make_token(user: User, name: str = "") -> tuple[ApiToken, str]:
    """Make a token for an account and return its row and its text, which nobody can ask for again."""
    text = f"{MARK}{secrets.token_urlsafe(32)}"
    row = ApiToken(user=user, name=name, beginning=text[:KEPT_CHARACTERS], digest=digest_of(text))
    row.full_clean()
    row.save()
    return row, text


def find_token(text: str) -> ApiToken | None:
    """Return the token with its account, None where it was never made, is revoked or its account is closed."""
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
    ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=timezone.now())
    token.refresh_from_db()
