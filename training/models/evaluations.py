"""Evaluations: what was measured, on which questions, with what exactly; its searches carry its id."""

from __future__ import annotations

import uuid

from django.db import models

from search.models import KnowledgeBase, Release
from training.models.question_sets import QuestionSet


class Evaluation(models.Model):
    """Questions of one set, asked of pipelines over one release with one version of settings, and the report."""

    class Status(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    class Purpose(models.TextChoices):
        REPORT = "report", "report"
        TUNING = "tuning", "tuning"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="evaluations")
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.REPORT)
    question_set = models.ForeignKey(
        QuestionSet, null=True, blank=True, on_delete=models.SET_NULL, related_name="evaluations"
    )
    split = models.CharField(max_length=200, blank=True)
    questions = models.PositiveIntegerField(default=0, help_text="How many were asked.")
    release = models.ForeignKey(Release, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    release_name = models.CharField(max_length=200)
    settings_version = models.PositiveIntegerField(default=0)
    pipelines = models.JSONField(default=dict, help_text="By name: version, specification and its hash.")
    code_version = models.CharField(max_length=100)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    reason = models.TextField(blank=True, help_text="Why there is no report.")
    report = models.JSONField(null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.release_name}, {self.questions} questions"
