"""Question sets: questions with their answers, versioned by content, each question with a hash of its own."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from search.models import KnowledgeBase


class QuestionSet(models.Model):
    """One version of a named set of questions about a knowledge base; other content makes another version."""

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="question_sets")
    name = models.CharField(max_length=200)
    version = models.PositiveIntegerField()
    splits = models.JSONField(default=dict, help_text="Questions of each split.")
    questions_count = models.PositiveIntegerField("questions", default=0)
    source = models.TextField(blank=True, help_text="The file that it was read from.")
    content_hash = models.CharField(max_length=64, help_text="BLAKE2b over ids, splits, texts and answers.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    checks = models.JSONField(
        default=dict, help_text="What the import found: duplicates, and answers that are no nodes."
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["knowledge_base", "name", "-version"]
        verbose_name = "question set"
        constraints = [
            models.UniqueConstraint(fields=["knowledge_base", "name", "version"], name="version_of_question_set"),
            models.UniqueConstraint(fields=["knowledge_base", "name", "content_hash"], name="content_of_question_set"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version} for {self.knowledge_base.name}"


class Question(models.Model):
    """One question of a set; `hash` is the same for the same text and answers, whatever set they are in."""

    question_set = models.ForeignKey(QuestionSet, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveIntegerField()
    identifier = models.TextField(help_text="Its id in the file.")
    text = models.TextField()
    answers = ArrayField(models.TextField())
    split = models.TextField(blank=True)
    slices = models.JSONField(default=dict)
    grades = models.JSONField(default=dict, help_text="Grade by judged node; 0 is no answer. Empty: nobody judged.")
    hash = models.CharField(max_length=32, db_index=True, help_text="BLAKE2b over the normalised text and the answers.")

    class Meta:
        ordering = ["question_set", "position"]
        constraints = [models.UniqueConstraint(fields=["question_set", "position"], name="position_in_question_set")]

    def __str__(self) -> str:
        return self.text[:80]
