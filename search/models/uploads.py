"""Rows of uploads: the files that somebody sends to the site in pieces, to import them."""

from __future__ import annotations

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import F, Q

FOLDER = "uploads"
"""Folder of all uploads below GRASP_HOME."""


class Upload(models.Model):
    """One upload: some files that are imported together.

    An import from a folder of the server or from a database has a row too, with `source` instead of files: it keeps the
    mapping between the steps. `report` holds what unpacking found (`files`, `bytes`, `left_out`), `mapping` the mapping
    that somebody saved.
    """

    class State(models.TextChoices):
        RECEIVING = "receiving", "receiving"
        READY = "ready", "ready"
        REFUSED = "refused", "refused"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=200, blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RECEIVING)
    reason = models.TextField(blank=True, help_text="Why the upload was refused.")
    source = models.CharField(
        max_length=1000, blank=True, help_text="A folder of the server or the address of a database, instead of files."
    )
    report = models.JSONField(default=dict, blank=True)
    mapping = models.JSONField(null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True, db_index=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.title or str(self.id)

    @property
    def directory(self) -> Path:
        """The folder of the upload."""
        return Path(settings.GRASP_HOME) / FOLDER / str(self.id)

    @property
    def content(self) -> Path:
        """The folder of the unpacked files; it exists only when all of them are there."""
        return self.directory / "content"


class UploadFile(models.Model):
    """One file of an upload; `offset` is the number of bytes that have been received."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    offset = models.PositiveBigIntegerField(default=0)
    stated_sha256 = models.CharField(max_length=64, blank=True, help_text="SHA-256 as the sender stated it.")
    sha256 = models.CharField(max_length=64, blank=True, help_text="SHA-256 of what was received.")
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["created", "id"]
        verbose_name = "file of an upload"
        verbose_name_plural = "files of uploads"
        constraints = [
            models.UniqueConstraint(fields=["upload", "name"], name="file_of_upload"),
            models.CheckConstraint(condition=Q(offset__lte=F("size")), name="received_at_most_size"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        """Where the received bytes lie."""
        return self.upload.directory / "incoming" / str(self.id)


class ServerFolder(models.Model):
    """A folder of the server from which pages and the API may import, beside those of GRASP_IMPORT_ROOTS."""

    path = models.CharField(
        "folder",
        max_length=500,
        unique=True,
        help_text="Full path on the server, such as /srv/data. All below it counts.",
    )
    note = models.CharField(max_length=200, blank=True, help_text="What is in it, for others.")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["path"]
        verbose_name = "folder of the server"
        verbose_name_plural = "folders of the server"

    def __str__(self) -> str:
        return self.path
