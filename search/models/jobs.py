"""Rows of jobs: long work that a worker does, its log, its metrics, and the schedules that start it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from search.models.knowledge import KnowledgeBase, Release


class Job(models.Model):
    """One job: its specification, its state, who works on it, how far it is, and what came of it.

    `fence` increases whenever the ownership changes: by a claim, a cancellation, or the end. A process may write
    results only while the row has the fence of its claim, and the lease lasts until `lease_until`.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    LIVE = (State.QUEUED, State.RUNNING)
    """What has not ended."""

    class Origin(models.TextChoices):
        PAGE = "page", "admin page"
        API = "api", "API"
        COMMAND = "command", "command line"
        SCHEDULE = "schedule", "schedule"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    arguments = models.JSONField(default=dict, blank=True, help_text="What the kind was given; never a secret.")
    specification = models.JSONField(default=dict, help_text="Everything that decides the result, with all defaults.")
    specification_hash = models.CharField(max_length=64, db_index=True)
    seed = models.BigIntegerField(default=0)
    code_version = models.CharField(max_length=100, blank=True)
    knowledge_base = models.ForeignKey(
        KnowledgeBase, null=True, blank=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    knowledge_base_name = models.CharField(max_length=200, blank=True)
    release = models.ForeignKey(Release, null=True, blank=True, on_delete=models.SET_NULL, related_name="jobs")
    release_name = models.CharField(max_length=220, blank=True)
    question_set = models.CharField(max_length=220, blank=True, help_text="name@version; its row is kept by training.")
    queue = models.CharField(max_length=40, default="jobs")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveIntegerField(default=0, help_text="How often a process has started on it.")
    deaths = models.PositiveIntegerField(default=0, help_text="How often its process ended without saying why.")
    reason = models.TextField(blank=True, help_text="Why it waits, failed, or was cancelled.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.API)
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    heartbeat = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    worker_host = models.CharField(max_length=255, blank=True)
    worker_process = models.PositiveIntegerField(null=True, blank=True)
    progress = models.JSONField(default=dict, blank=True)
    notes = models.JSONField(default=dict, blank=True, help_text="What its work noted for a later attempt.")
    resources = models.JSONField(default=dict, blank=True)
    result = models.JSONField(null=True, blank=True)
    cancel_requested = models.DateTimeField(null=True, blank=True)
    cloned_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="clones")
    schedule = models.ForeignKey(
        "JobSchedule", null=True, blank=True, on_delete=models.SET_NULL, related_name="jobs", editable=False
    )
    changes = models.PositiveBigIntegerField(default=0, help_text="Increases with every change, for followers.")
    carried = models.JSONField(
        default=dict, blank=True, editable=False, help_text="Ids of the request that launched it, for logs and traces."
    )

    class Meta:
        ordering = ["-created"]
        indexes = [
            models.Index(fields=["queue", "created"], name="job_waiting", condition=Q(state="queued")),
            models.Index(fields=["lease_until"], name="job_leases", condition=Q(state="running")),
            models.Index(fields=["-created"], name="job_newest"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["specification_hash"],
                condition=Q(state__in=["queued", "running"]),
                name="one_live_job_of_a_specification",
            ),
        ]

    def __str__(self) -> str:
        """Return its name for people, such as "Import of museum".

        Without the state, because pages and the audit log keep what was written once.
        """
        row = settings.GRASP_JOBS.get(self.kind, {})
        name = row.get("NAME", row.get("TITLE", self.kind.replace("_", " ")))
        if "{}" not in name and self.knowledge_base_name:
            return f"{name}: {self.knowledge_base_name}"
        return str(name.format(self.knowledge_base_name or "a knowledge base"))


class JobLog(models.Model):
    """One line that a job wrote for people."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="lines")
    at = models.DateTimeField(auto_now_add=True)
    attempt = models.PositiveIntegerField(default=0)
    text = models.TextField()

    class Meta:
        ordering = ["job", "id"]
        verbose_name = "line of a job"
        verbose_name_plural = "lines of jobs"

    def __str__(self) -> str:
        return self.text[:80]


class JobMetric(models.Model):
    """One point of a series that a job measured, such as a loss after each step; a repeated step replaces its value."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="metrics")
    name = models.CharField(max_length=80)
    step = models.PositiveBigIntegerField()
    value = models.FloatField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["job", "name", "step"]
        verbose_name = "metric of a job"
        verbose_name_plural = "metrics of jobs"
        constraints = [models.UniqueConstraint(fields=["job", "name", "step"], name="step_of_metric")]

    def __str__(self) -> str:
        return f"{self.name} {self.step}: {self.value:.4g}"


class JobSchedule(models.Model):
    """A job that is launched at the times of a cron expression, in UTC."""

    name = models.CharField(max_length=80, unique=True)
    cron = models.CharField(max_length=120, help_text="Minute, hour, day of month, month, day of week, in UTC.")
    kind = models.CharField(max_length=40)
    knowledge_base = models.ForeignKey(
        KnowledgeBase, null=True, blank=True, on_delete=models.CASCADE, related_name="job_schedules"
    )
    question_set = models.CharField(max_length=220, blank=True, help_text="name, or name@version.")
    arguments = models.JSONField(default=dict, blank=True)
    enabled = models.BooleanField(default=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(auto_now_add=True)
    next_run = models.DateTimeField(null=True, blank=True)
    last_run = models.DateTimeField(null=True, blank=True)
    last_outcome = models.TextField(blank=True, help_text="What came of its last time: a job, or why there is none.")

    class Meta:
        ordering = ["name"]
        verbose_name = "schedule of jobs"
        verbose_name_plural = "schedules of jobs"

    def __str__(self) -> str:
        return f"{self.name}: {self.cron}"
