"""What the site notes about itself: requests that it refused, and what its retention deleted."""

from __future__ import annotations

from django.db import models


class RefusedRequests(models.Model):
    """How many requests were refused on a day, by what was wrong with them and the door they came through."""

    day = models.DateField()
    origin = models.CharField(max_length=12)
    kind = models.CharField(max_length=40, help_text="The part of the request that was wrong, or the limit it met.")
    number = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["-day", "-number"]
        verbose_name = verbose_name_plural = "refused requests"
        constraints = [models.UniqueConstraint(fields=["day", "origin", "kind"], name="refused_on_day")]

    def __str__(self) -> str:
        return f"{self.day} {self.kind}: {self.number}"


class RetentionRun(models.Model):
    """One run of the retention: what it deleted and ended, how long it took, and the reason where it failed."""

    started = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True)
    settled = models.PositiveIntegerField(default=0, help_text="Searches that nobody worked on any more.")
    searches = models.PositiveIntegerField(default=0, help_text="Deleted searches.")
    calls = models.PositiveIntegerField(default=0, help_text="Deleted calls of language models.")
    sessions = models.PositiveIntegerField(default=0, help_text="Deleted sessions that had expired.")
    removed = models.JSONField(default=dict, help_text="What GRASP_RETENTION names → how many of them were deleted.")
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-started"]
        verbose_name = "retention run"

    def __str__(self) -> str:
        return f"retention of {self.started:%Y-%m-%d %H:%M}"


class BackupRunQuerySet(models.QuerySet["BackupRun"]):
    def complete(self) -> BackupRunQuerySet:
        """What was made to its end."""
        return self.filter(finished__isnull=False, error="")

    def good(self) -> BackupRunQuerySet:
        """What was made to its end, and in which no check has found a fault."""
        return self.complete().filter(fault="")


class BackupRun(models.Model):
    """One backup of the site: its file, what is in it, and the reason if it failed. `finished` is empty until its end.

    `checked` is when every part was last compared with its hash, and `fault` what was wrong then.
    """

    CANCELLED = "It was cancelled."
    """What `error` says of a backup that somebody has cancelled: nothing has to be mended."""

    started = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True)
    place = models.CharField(max_length=500, help_text="The file of the backup.")
    bytes = models.PositiveBigIntegerField(default=0)
    error = models.TextField(blank=True)
    counts = models.JSONField(default=dict, help_text="Noun → how many of it are inside.")
    fingerprint = models.CharField(max_length=64, blank=True, help_text="The SHA-256 of its manifest.")
    code_version = models.CharField(max_length=100, blank=True, help_text="The version that has made it.")
    key_inside = models.BooleanField(default=False, help_text="Whether SECRET_KEY is inside.")
    checked = models.DateTimeField(null=True)
    fault = models.TextField(blank=True)

    objects = BackupRunQuerySet.as_manager()

    class Meta:
        ordering = ["-started"]
        verbose_name = "backup"
        permissions = [("download_backuprun", "Can download backup")]

    def __str__(self) -> str:
        return f"backup of {self.started:%Y-%m-%d %H:%M}"
