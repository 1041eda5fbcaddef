"""Evaluations: the questions that were asked, with which specifications, and the outcome of each question."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from search.models import KnowledgeBase, Release
from training.models.question_sets import QuestionSet


class Evaluation(models.Model):
    """Questions of one set, asked of pipelines over one release with one version of settings, and the report.

    Everything that decides the result is fixed when the evaluation begins. So it can be continued after it was
    interrupted, and repeated later.
    """

    class Status(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

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
    specifications = models.JSONField(
        default=list, help_text="In the order of the report: label, pipeline, version, specification and its hash."
    )
    seed = models.PositiveBigIntegerField(default=0, help_text="Of the intervals, the tests and the repeated sample.")
    options = models.JSONField(default=dict, help_text="Such as the number of repeated questions.")
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


class AskedQuestion(models.Model):
    """A question of an evaluation, copied from its set, so that a report stays readable when the set is deleted."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="asked")
    position = models.PositiveIntegerField(help_text="Its place in the order of asking, from 0.")
    identifier = models.TextField(help_text="Its id in the file.")
    text = models.TextField()
    answers = ArrayField(models.TextField(), help_text="Ids of all answers.")
    unknown = ArrayField(models.TextField(), default=list, help_text="Ids of answers that the release does not have.")
    answer_type = models.CharField(max_length=200, blank=True, help_text="The most frequent type of its answers.")
    split = models.TextField(blank=True)
    slices = models.JSONField(default=dict)
    grades = models.JSONField(default=dict, help_text="The same as Question.grades.")
    hash = models.CharField(max_length=32, help_text="The same as Question.hash.")

    class Meta:
        ordering = ["evaluation", "position"]
        constraints = [models.UniqueConstraint(fields=["evaluation", "position"], name="position_in_evaluation")]

    def __str__(self) -> str:
        return self.text[:80]


class Outcome(models.Model):
    """The outcome of one question with one of the evaluation's specifications."""

    class State(models.TextChoices):
        ANSWERED = "answered", "answered"
        EMPTY = "empty", "empty"
        ERROR = "error", "error"

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="outcomes")
    question = models.ForeignKey(AskedQuestion, on_delete=models.CASCADE, related_name="outcomes")
    pipeline = models.CharField(max_length=300, help_text="Label of the specification, such as grasp@2.")
    run = models.UUIDField(null=True, blank=True, help_text="The search; it may have been deleted by retention.")
    state = models.CharField(max_length=10, choices=State.choices)
    error = models.TextField(blank=True)
    rank = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of the first answer, from 1; null when the first 100 have none."
    )
    ids = ArrayField(models.TextField(), default=list, help_text="The ranking, best first, up to 100.")
    scores = ArrayField(models.FloatField(), default=list)
    measures = models.JSONField(default=dict, help_text="In percent, by name.")
    seconds = models.FloatField(default=0.0)
    stages = models.JSONField(default=dict, help_text="Seconds by role of the steps.")
    plan_shape = models.CharField(max_length=200, blank=True, help_text="Such as 2 hops, 1 anchor.")
    probability = models.FloatField(
        null=True, blank=True, help_text="The shown one: of the first result, else of the plan."
    )
    cached_calls = models.PositiveIntegerField(default=0, help_text="Answers of a language model from the cache.")
    model_use = models.JSONField(
        null=True, blank=True, help_text="Calls, tokens and price of language models; null: none was asked."
    )
    lost_at = models.CharField(
        max_length=40, blank=True, help_text="First stage that lost the question's best answer; empty: not computed."
    )
    lost = models.JSONField(null=True, blank=True, help_text="Where each answer was lost, with the details.")
    leads = models.BooleanField(null=True, blank=True, help_text="The first plan was called almost surely right.")

    class Meta:
        ordering = ["evaluation", "question__position", "pipeline"]
        constraints = [models.UniqueConstraint(fields=["question", "pipeline"], name="outcome_of_question")]
        indexes = [
            models.Index(fields=["evaluation", "pipeline", "rank"], name="outcome_rank"),
            models.Index(fields=["evaluation", "pipeline", "lost_at"], name="outcome_lost_at"),
        ]

    def __str__(self) -> str:
        return f"{self.pipeline}: {self.rank or 'no answer'}"
