"""What is decided over judgements: adjudications, the rule of final grades, models that judged, and corrections."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from search.models import KnowledgeBase
from training.models.annotation import HIGHEST_GRADE, AnnotationItem, AnnotationQueue

RELEVANT_FROM = 2
"""Lowest grade of an answer where a queue says nothing else; 1 is only related to the question."""


class Adjudication(models.Model):
    """A decision about one item by somebody who saw all judgements of it. It stands beside them and changes none.

    The newest decision of an item counts; one without a grade opens the item again.
    """

    item = models.ForeignKey(AnnotationItem, on_delete=models.CASCADE, related_name="adjudications")
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="adjudications"
    )
    adjudicator_name = models.CharField(max_length=300, help_text="Kept when the account is deleted.")
    grade = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Empty: the item is open again.")
    note = models.TextField(blank=True)
    seen = models.JSONField(default=list, help_text="The grades that it was decided upon: [{annotator, grade}].")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["item", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(grade__isnull=True) | Q(grade__lte=HIGHEST_GRADE), name="grade_of_adjudication"
            )
        ]

    def __str__(self) -> str:
        return f"{self.item_id}: {'open again' if self.grade is None else self.grade}"


class FinalRule(models.Model):
    """How the grades of an item become one, where nobody has adjudicated it."""

    class Rule(models.TextChoices):
        MAJORITY = "majority", "the grade that most gave; a tie stays open"
        MEDIAN = "median", "the median; of two middle grades the lower one"

    queue = models.OneToOneField(AnnotationQueue, on_delete=models.CASCADE, related_name="final_rule")
    rule = models.CharField(max_length=10, choices=Rule.choices, default=Rule.MAJORITY)
    relevant_from = models.PositiveSmallIntegerField(
        default=RELEVANT_FROM, validators=[MinValueValidator(1), MaxValueValidator(HIGHEST_GRADE)],
        help_text="Nodes with at least this final grade are answers in question sets.",
    )  # fmt: skip
    models = ArrayField(
        models.CharField(max_length=300), default=list, blank=True,
        help_text="Language models whose grades count like a person's. Exports say so.",
    )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.queue}: {self.rule}"


class GradesSeen(models.Model):
    """Somebody looked at the grades of others in a queue: what they judge there from then on is not blind."""

    queue = models.ForeignKey(AnnotationQueue, on_delete=models.CASCADE, related_name="grades_seen")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["since"]
        constraints = [models.UniqueConstraint(fields=["queue", "user"], name="grades_seen_by_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.queue}"


class ModelAnnotator(models.Model):
    """A language model that judged items of a queue; `name` is the one that its judgements carry."""

    queue = models.ForeignKey(AnnotationQueue, on_delete=models.CASCADE, related_name="model_annotators")
    name = models.CharField(max_length=300, help_text="Its model and the beginning of the fingerprint.")
    model = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64, help_text="BLAKE2b of model, address, options and prompt.")
    prompt = models.CharField(max_length=200, help_text="Fingerprint of the prompt's files.")
    tokens = models.JSONField(default=dict, help_text="By kind, of all its judgements of the queue.")
    failed = models.PositiveIntegerField(default=0, help_text="Items to which its last run gave no usable answer.")
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["queue", "created"]
        constraints = [models.UniqueConstraint(fields=["queue", "name"], name="model_of_annotation_queue")]

    def __str__(self) -> str:
        return self.name


class Correction(models.Model):
    """A question with the answers that people corrected, to be learned from.

    It is made of an item by one button: `answers` are what people call answers to the question, `rejected` what they
    call none. One row for each question of a knowledge base; a later correction of the same question replaces it.
    """

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="corrections")
    question = models.TextField()
    text_hash = models.CharField(max_length=32, help_text="The same as AnnotationItem.text_hash.")
    answers = ArrayField(models.TextField())
    rejected = ArrayField(models.TextField(), default=list, blank=True)
    queue = models.ForeignKey(
        AnnotationQueue, null=True, blank=True, on_delete=models.SET_NULL, related_name="corrections"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-changed"]
        constraints = [models.UniqueConstraint(fields=["knowledge_base", "text_hash"], name="correction_of_question")]

    def __str__(self) -> str:
        return self.question[:80]
