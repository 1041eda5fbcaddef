"""Artifacts: learned weights in files that never change. The version of a pipeline names the artifact it uses."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import models

from search.models.knowledge import KnowledgeBase


class Artifact(models.Model):
    """Weights that were trained for a knowledge base, with the training settings, a hash of the data, and metrics.

    The files are in `directory`: see `search.artifact_files`. They outlive the releases that they were trained on.
    """

    id = models.CharField(primary_key=True, max_length=100)
    kind = models.CharField(max_length=50)
    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="artifacts")
    configuration = models.JSONField(default=dict, help_text="Settings it was trained with.")
    metrics = models.JSONField(default=dict, help_text="Measured on questions that a fold had not seen.")
    data_hash = models.CharField(max_length=64, help_text="BLAKE2b over the questions it was trained on.")
    content_hash = models.CharField(
        max_length=64, blank=True, help_text="BLAKE2b over all files; empty for trained parts of older versions."
    )
    code_version = models.CharField(max_length=100)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]
        verbose_name = "trained part"

    def __str__(self) -> str:
        return self.id

    @property
    def directory(self) -> Path:
        """The folder of the artifact's files."""
        return Path(settings.GRASP_HOME) / "artifacts" / self.id
