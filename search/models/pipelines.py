"""Versions of pipelines. A version never changes after a run has used it: each change makes a new version."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.conf import settings
from django.db import models

from search.models.knowledge import KnowledgeBase


def specification_hash(specification: dict[str, Any]) -> str:
    """Return a hash of a specification, 32 hexadecimal digits; the order of its keys does not matter."""
    return hashlib.blake2b(json.dumps(specification, sort_keys=True).encode(), digest_size=16).hexdigest()


class PipelineVersion(models.Model):
    """One version of a pipeline for one knowledge base: options that replace those of the site's specification.

    A knowledge base without a version of a pipeline uses the site's specification, which is shown as version 0.
    """

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="pipeline_versions")
    pipeline = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    options = models.JSONField(default=dict, help_text="Options as {'stage.option': value}.")
    active = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(auto_now_add=True)
    activated = models.DateTimeField(null=True, blank=True, help_text="When searches last began to use it.")

    class Meta:
        ordering = ["knowledge_base", "pipeline", "-version"]
        verbose_name = "pipeline version"
        constraints = [
            models.UniqueConstraint(fields=["knowledge_base", "pipeline", "version"], name="version_of_pipeline"),
            models.UniqueConstraint(
                fields=["knowledge_base", "pipeline"], condition=models.Q(active=True), name="one_active_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pipeline} {self.version} for {self.knowledge_base.name}"
