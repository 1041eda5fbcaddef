"""The audit log: who did what, when, from where, and to which object. Rows are written once and never changed."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One action of an account, a command or a schedule.

    Names are kept beside the references, because the account and the object may be deleted later. `details` never
    contains a secret: of a changed secret, only its name is noted.
    """

    class Door(models.TextChoices):
        PAGE = "page", "page"
        API = "api", "API"
        COMMAND = "command", "command line"
        SCHEDULE = "schedule", "schedule"

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    who = models.CharField(max_length=150, help_text="Name of the account; of a command, of the system's user.")
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60, blank=True)
    object_id = models.CharField(max_length=200, blank=True)
    object_name = models.CharField(max_length=300, blank=True)
    details = models.JSONField(default=dict, blank=True)
    door = models.CharField(max_length=10, choices=Door.choices, default=Door.COMMAND)
    address = models.CharField(max_length=45, blank=True, help_text="IP address of the caller.")
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["-at"], name="audit_newest")]
        verbose_name = "entry of the audit log"
        verbose_name_plural = "audit log"

    def __str__(self) -> str:
        return f"{self.who}: {self.action} {self.object_name}".rstrip()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row. Raises TypeError for a row that is stored already."""
        if not self._state.adding:
            raise TypeError("An entry of the audit log is never changed.")
        super().save(*args, **kwargs)
