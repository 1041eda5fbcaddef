"""Endpoints of language models, and every call that was made to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction

from search.models.sealed import Secret, seal, unseal

USUAL_PORTS = {"http": 80, "https": 443}


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


def server_of_url(base_url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address, with the scheme's usual port where it names none."""
    parts = urlsplit(base_url)
    return parts.scheme, parts.hostname or "", parts.port or USUAL_PORTS.get(parts.scheme)


ENDPOINT_ACTIVE = "EXISTS (SELECT FROM search_endpoint WHERE active)"
"""SQL: whether an endpoint is in use."""
endpoint_active: ContextVar[bool | None] = ContextVar("endpoint_active", default=None)
"""Whether an endpoint is in use, where that was read already; see `endpoint_known`."""


@contextmanager
def endpoint_known(active: bool) -> Iterator[None]:
    """Within it, whether an endpoint is in use is not read again: a search reads it with its own row."""
    token = endpoint_active.set(active)
    try:
        yield
    finally:
        endpoint_active.reset(token)


class Endpoint(models.Model):
    """An OpenAI-compatible server, and the model to use there.

    If several are active, the one with the lowest `position` is used. The API key is stored encrypted and is never
    shown again. It belongs to the server that it was entered for: `save` forgets it when the address names another one,
    so that whoever changes the address does not get the key. `forgotten` then tells it in a sentence.
    """

    forgotten: str = ""
    _entered = False
    """Whether a key was set on this object since it was read or saved."""

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

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save; a stored key is forgotten if scheme, host or port are not those that the stored row has."""
        self.forgotten = ""
        with transaction.atomic():
            if not (self._state.adding or self._entered or not self.api_key_sealed):
                stored = Endpoint.objects.select_for_update().filter(pk=self.pk).first()
                written = kwargs.get("update_fields")
                if stored is not None and (written is None or {"base_url", "api_key_sealed"} & set(written)):
                    self._forget_key_of_another(stored)
                    kwargs["update_fields"] = written and {*written, "api_key_sealed"}
            super().save(*args, **kwargs)
        self._entered = False

    @property
    def api_key(self) -> Secret:
        """The key, masked. Raises Unsealable if SECRET_KEY has changed since it was stored."""
        return unseal(self.api_key_sealed)

    @api_key.setter
    def api_key(self, key: Secret) -> None:
        self.api_key_sealed = seal(key)
        self._entered = True

    def _forget_key_of_another(self, stored: Endpoint) -> None:
        """Forget the key unless it is the stored one and the address names the stored server."""
        same_server = server_of_url(self.base_url) == server_of_url(stored.base_url)
        if same_server and self.api_key_sealed == stored.api_key_sealed:
            return
        self.api_key_sealed = ""
        scheme, host, port = server_of_url(stored.base_url)
        before = f"{scheme}://{f'[{host}]' if ':' in host else host}"
        named = before if port == USUAL_PORTS.get(scheme) else f"{before}:{port}"
        self.forgotten = (
            f"The stored key was entered for {named} and has been forgotten, because the address names another server "
            "now. Enter that server's key if it takes one."
        )


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
