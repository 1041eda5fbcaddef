"""Keys of programs: a token stands for an account; only its hash is stored."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.db import models


def digest_of(token: str) -> str:
    """Return what is stored of a token.

    SHA-256 without a salt: a token has 256 random bits, so that nobody can try them out, and is found by its hash.
    """
    return hashlib.sha256(token.encode()).hexdigest()


class ApiToken(models.Model):
    """A key with which a program acts for an account, until it is revoked or expires."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, blank=True, help_text="What it is for, so that it can be told from others.")
    beginning = models.CharField(max_length=12, editable=False, help_text="Its first characters, to recognise it by.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="It works up to then; without a time, until it is revoked."
    )
    last_used = models.DateTimeField(null=True, editable=False, help_text="To the minute.")
    revoked = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created"]
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.beginning}… of {self.user}"
