"""Endpoints of language models, and every call that was made to them."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from search.models.sealed import Secret, seal, unseal


def check_base_url(value: str) -> None:
    """Reject a value that is not a server's address, or that contains a password: keys have a separate field."""
    try:
        parts = urlsplit(value)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known or not value.isprintable() or " " in value:
        raise ValidationError(
            "An address begins with http:// or https:// and names a host, as http://127.0.0.1:8000/v1."
        )
    if parts.username or parts.password:
        raise ValidationError("The address contains a user or password; enter the key in its own field.")


class Endpoint(models.Model):
    """An OpenAI-compatible server, and the model to use there.

    If several are active, the one with the lowest `position` is used. The API key is stored encrypted and is never
    shown again.
    """

    class Structured(models.TextChoices):
        AUTO = "auto", "Where the server can"
        ON = "on", "Always"
        OFF = "off", "Never"

    name = models.CharField(max_length=100, unique=True)
    base_url = models.CharField(
        "base URL",
        max_length=500,
        validators=[check_base_url],
        help_text="Used as given, so with /v1 where the server wants it: http://127.0.0.1:8000/v1",
    )
    model = models.CharField(max_length=300, help_text="The model's name at that server.")
    api_key_sealed = models.TextField(blank=True, default="", editable=False)
    timeout = models.FloatField(
        default=30.0, validators=[MinValueValidator(0.5), MaxValueValidator(600)], help_text="Seconds for one request."
    )
    concurrency = models.PositiveIntegerField(
        default=4,
        validators=[MinValueValidator(1), MaxValueValidator(256)],
        help_text="Requests at once from one process.",
    )
    max_tokens = models.PositiveIntegerField(
        default=4096,
        validators=[MinValueValidator(16)],
        help_text="Longest answer, thinking included.",
    )
    structured_output = models.CharField(
        max_length=4,
        choices=Structured.choices,
        default=Structured.AUTO,
        help_text="Whether the server is asked to hold the model to a JSON schema.",
    )
    active = models.BooleanField(default=True)
    position = models.PositiveSmallIntegerField(default=10, help_text="The lowest of the active ones is asked.")
    tested = models.JSONField(null=True, blank=True, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["position", "name"]
        verbose_name = "language model endpoint"

    def __str__(self) -> str:
        return self.name

    @property
    def api_key(self) -> Secret:
        """The key, masked. Raises Unsealable if SECRET_KEY has changed since it was stored."""
        return unseal(self.api_key_sealed)

    @api_key.setter
    def api_key(self, key: Secret) -> None:
        self.api_key_sealed = seal(key)


class LanguageModelCall(models.Model):
    """One answer or failure of a language model: its cost and its outcome. It never contains the key.

    `prompt_version` is the fingerprint of the files and the schema from which the prompt was rendered. `request_hash`
    covers everything that determines the answer, server and model included: rows with an answer also serve as the
    cache.
    """

    endpoint = models.ForeignKey(Endpoint, null=True, blank=True, on_delete=models.SET_NULL, related_name="calls")
    endpoint_name = models.CharField(max_length=100)
    model = models.CharField(max_length=300)
    purpose = models.CharField(max_length=40)
    prompt_version = models.CharField(max_length=32, blank=True)
    prompt_fingerprint = models.CharField(max_length=32)
    request_hash = models.CharField(max_length=32)
    structured = models.BooleanField(default=False)
    requests = models.PositiveSmallIntegerField(default=1, help_text="HTTP requests, repeated ones included.")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    seconds = models.FloatField()
    finish_reason = models.CharField(max_length=40, blank=True)
    text = models.TextField(blank=True)
    error = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]
        indexes = [models.Index(fields=["request_hash", "-created"]), models.Index(fields=["-created"])]
        verbose_name = "language model call"

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model}"
