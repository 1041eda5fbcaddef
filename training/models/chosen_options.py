"""Options of a pipeline that were chosen on questions, so that reports can tell whether they are measured on these."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from search.models import PipelineVersion
from training.models.evaluations import Evaluation
from training.models.question_sets import QuestionSet


class ChosenOptions(models.Model):
    """The options that a tuning saved with a pipeline's version, and the questions that it chose them on.

    A later version that takes these options over was chosen on the same questions, whoever saved it: what counts is
    whether a specification has the options, not which version it is.
    """

    pipeline_version = models.ForeignKey(PipelineVersion, on_delete=models.CASCADE, related_name="chosen_options")
    part = models.CharField(max_length=50, help_text="What was tuned, such as fusion.")
    options = models.JSONField(default=dict, help_text="Options as {'stage.option': value}.")
    question_set = models.ForeignKey(
        QuestionSet, null=True, blank=True, on_delete=models.SET_NULL, related_name="chosen_options"
    )
    split = models.CharField(max_length=200, blank=True)
    hashes = ArrayField(models.CharField(max_length=32), help_text="Of the questions; see Question.hash.")
    evaluation = models.ForeignKey(Evaluation, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]
        verbose_name = verbose_name_plural = "chosen options"

    def __str__(self) -> str:
        return f"{self.part} of {self.pipeline_version}"
