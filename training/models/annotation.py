"""Annotation: queues of items that people judge, who holds which item, and the judgements with their history."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from search.models import KnowledgeBase, Release
from training.models.evaluations import Evaluation

MOST_ITEMS, MOST_OVERLAP, HIGHEST_GRADE = 2_000, 20, 3


class AnnotationQueueQuerySet(models.QuerySet["AnnotationQueue"]):
    """Query set of queues that can be restricted to those that a user may see."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser | None) -> AnnotationQueueQuerySet:
        """Return the queues about knowledge bases that `user` may see; None is the system, which sees all."""
        return self.filter(knowledge_base__in=KnowledgeBase.objects.visible_to(user).values("pk"))


class AnnotationQueue(models.Model):
    """Items of one knowledge base that a rule chose, to be judged by `overlap` people each.

    Everything that decides which items it has is fixed when it is made: the rule with its arguments, the seed, the
    limit, the release. Annotators see the name and the guideline, never the rule's arguments or the pipelines.
    """

    class Rule(models.TextChoices):
        LOST = "lost", "lost answers"
        DISAGREEMENT = "disagreement", "disagreement between pipelines"
        FEEDBACK = "feedback", "people's feedback"
        MARGIN = "margin", "small margins"
        RANDOM = "random", "random, for honesty"
        SAVED = "saved", "results of saved searches"
        TASKS = "tasks", "pasted questions, or a file of questions and results"

    class State(models.TextChoices):
        FILLING = "filling", "being filled"
        OPEN = "open", "open"
        CLOSED = "closed", "closed"

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="annotation_queues")
    name = models.CharField(max_length=200)
    rule = models.CharField(max_length=20, choices=Rule.choices)
    arguments = models.JSONField(default=dict, blank=True, help_text="Of the rule, as it was used.")
    seed = models.PositiveBigIntegerField(default=0, help_text="Draws the items, and shuffles their order.")
    limit = models.PositiveIntegerField(
        default=200, validators=[MinValueValidator(1), MaxValueValidator(MOST_ITEMS)], help_text="Items at most."
    )
    matched = models.PositiveBigIntegerField(default=0, help_text="Candidates that the rule matched.")
    items_count = models.PositiveIntegerField("items", default=0)
    overlap = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(1), MaxValueValidator(MOST_OVERLAP)],
        help_text="People who judge each item.",
    )  # fmt: skip
    guideline = models.TextField(help_text="How to judge, in Markdown; annotators read it with `?`.")
    evaluation = models.ForeignKey(
        Evaluation, null=True, blank=True, on_delete=models.SET_NULL, related_name="annotation_queues"
    )
    release = models.ForeignKey(Release, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    release_name = models.CharField(max_length=200, help_text="The release that was searched.")
    pipelines = ArrayField(
        models.CharField(max_length=300), default=list, blank=True, help_text="Hidden from annotators."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)

    objects = AnnotationQueueQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        verbose_name = "annotation queue"
        constraints = [
            models.UniqueConstraint(
                fields=["knowledge_base", "name"], name="name_of_annotation_queue",
                violation_error_message="This knowledge base has a queue of this name already.",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.name


class AnnotationItem(models.Model):
    """One question with one candidate node, and a copy of what annotators are shown of it.

    `shown` is filled from the release when the item is made or first handed out, so a release that is dropped later
    takes nothing away. `origin` is hidden until the annotator has judged: the rule's reason, and where each pipeline
    ranked the node.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        RETIRED = "retired", "retired"

    queue = models.ForeignKey(AnnotationQueue, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField(help_text="In the order of handing out, shuffled by the seed, from 0.")
    question = models.TextField(help_text="Its text.")
    question_identifier = models.TextField(blank=True, help_text="Its id in the question set; empty for feedback.")
    question_hash = models.CharField(
        max_length=32, blank=True, help_text="The same as Question.hash; empty for feedback, which has no answers."
    )
    text_hash = models.CharField(
        max_length=32, help_text="BLAKE2b-128 of the normalised text alone, the same whatever answers are known."
    )
    answers = ArrayField(models.TextField(), default=list, blank=True, help_text="Ids of known answers; hidden.")
    split = models.TextField(blank=True, help_text="Of the question in its set.")
    node_id = models.TextField()
    node_name = models.TextField(blank=True)
    node_type = models.CharField(max_length=200, blank=True)
    shown = models.JSONField(
        null=True, blank=True,
        help_text="Fields, conditions and paths as annotators see them; null until they are read from the release.",
    )  # fmt: skip
    origin = models.JSONField(
        default=dict, blank=True, help_text="Why the rule chose it; per pipeline rank, score and search."
    )
    people = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="assigned_items",
        help_text="Who is to judge it; nobody: whoever judges in the queue.",
    )  # fmt: skip
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    reason = models.TextField(blank=True, help_text="Why it is retired, as a sentence.")

    class Meta:
        ordering = ["queue", "position"]
        verbose_name = "annotation item"
        constraints = [
            models.UniqueConstraint(fields=["queue", "position"], name="position_in_annotation_queue"),
            models.UniqueConstraint(fields=["queue", "text_hash", "node_id"], name="candidate_of_annotation_queue"),
        ]
        indexes = [models.Index(fields=["text_hash"], name="annotation_item_text")]

    def __str__(self) -> str:
        return f"{self.question[:60]} · {self.node_name or self.node_id}"


class Assignment(models.Model):
    """An item that was handed out to a person, who holds it until `expires`; judging it ends the hold.

    A place of an item is taken while somebody holds it or has judged it. `tab` is the browser tab that asked for it,
    so that two tabs of one person are handed different items.
    """

    item = models.ForeignKey(AnnotationItem, on_delete=models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="assignments")
    tab = models.UUIDField()
    given = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    judged = models.BooleanField(default=False, help_text="It holds no place any more; the judgement does.")
    revealed = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the annotator first saw what the search found of it, ranks, or peers' grades.",
    )

    class Meta:
        ordering = ["item", "given"]
        constraints = [models.UniqueConstraint(fields=["item", "annotator"], name="assignment_of_annotator")]
        indexes = [models.Index(fields=["annotator", "expires"], name="assignment_held", condition=Q(judged=False))]

    def __str__(self) -> str:
        return f"{self.item_id} → {self.annotator_id}"


class Verdict(models.TextChoices):
    """What a judgement says; a withdrawn one says nothing any more, but keeps its history."""

    GRADED = "graded", "graded"
    UNSURE = "unsure", "unsure"
    SKIPPED = "skipped", "skipped"
    WITHDRAWN = "withdrawn", "withdrawn"


COUNTED = (Verdict.GRADED, Verdict.UNSURE)
"""Verdicts that count towards the overlap of an item."""


class FailureCause(models.TextChoices):
    """Why an answer was missed or a wrong one found (METHODS §8): SAGE's manual classes, and AF's quality of plans."""

    DATA_STRUCTURE = "data:structure", "The data has an edge or a field missing or wrong"
    DATA_UNDERSPECIFIED = "data:underspecified", "The question leaves open what is meant"
    DATA_ARTEFACT = "data:artefact", "The expected answers are wrong or incomplete"
    QUERY_CONSTRAINT = "query:constraint", "The plan misses or adds a condition"
    QUERY_STRUCTURE = "query:structure", "The plan goes another way through the graph than the question"
    PLAN_UNSPECIFIC = "plan:unspecific", "The plan is right, but too unspecific"
    PLAN_INCORRECT = "plan:incorrect", "The plan is incorrect as a whole"
    RUN_SEMANTIC = "run:semantic", "The text looks alike but means something else"
    RUN_OVER_RETRIEVAL = "run:over-retrieval", "Too much was retrieved, and the answer drowned"


class Judgement(models.Model):
    """What one annotator says about one item: the newest revision. A person has an account, a language model a name.

    The first write makes revision 1; a change, an undo and a withdrawal make further ones, none overwrites another.
    """

    item = models.ForeignKey(AnnotationItem, on_delete=models.CASCADE, related_name="judgements")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="judgements"
    )
    annotator_name = models.CharField(max_length=300, help_text="Kept when the account is deleted.")
    model = models.CharField(
        max_length=300, blank=True, help_text="Name of a language model that judged; empty for people."
    )
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    grade = models.PositiveSmallIntegerField(null=True, blank=True, help_text="0 no answer … 3 a full answer.")
    cause = models.CharField(max_length=30, choices=FailureCause.choices, blank=True)
    stage = models.CharField(max_length=40, blank=True, help_text="A stage of LostStage.")
    note = models.TextField(blank=True)
    expected = models.JSONField(
        default=list, blank=True, help_text="Answers that the annotator added: [{id, name, type}]."
    )
    revision = models.PositiveIntegerField(default=1, help_text="Number of the newest revision.")
    seconds = models.FloatField(null=True, blank=True, help_text="The item was in front of the annotator.")
    informed = models.BooleanField(
        default=False,
        help_text="The newest grade was given after what the search found, ranks or peers' grades were seen.",
    )
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["item", "created"]
        constraints = [
            models.UniqueConstraint(fields=["item", "annotator"], name="judgement_of_annotator"),
            models.UniqueConstraint(fields=["item", "model"], condition=~Q(model=""), name="judgement_of_model"),
            models.CheckConstraint(
                condition=Q(verdict=Verdict.GRADED, grade__isnull=False, grade__lte=HIGHEST_GRADE)
                | (~Q(verdict=Verdict.GRADED) & Q(grade__isnull=True)),
                name="grade_of_graded_judgement",
            ),
            models.CheckConstraint(condition=Q(model="") | Q(annotator__isnull=True), name="person_or_model"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_name}: {self.verdict if self.grade is None else self.grade}"


class JudgementRevision(models.Model):
    """One write of a judgement. `key` is made by the client, so that the same write sent twice is stored once."""

    judgement = models.ForeignKey(Judgement, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField(help_text="From 1.")
    key = models.UUIDField(unique=True, default=uuid.uuid4)
    values = models.JSONField(help_text="verdict, grade, cause, stage, note, expected, seconds, informed.")
    made = models.DateTimeField(help_text="By the client's clock.")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["judgement", "number"]
        verbose_name = "revision of a judgement"
        verbose_name_plural = "revisions of judgements"
        constraints = [models.UniqueConstraint(fields=["judgement", "number"], name="number_of_revision")]

    def __str__(self) -> str:
        return f"{self.judgement_id}, revision {self.number}"
