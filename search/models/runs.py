"""Search runs and their steps. A run outlives the release it used, so names are stored beside the references."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.db.models import Q

from search.models.knowledge import KnowledgeBase, Release
from search.models.pipelines import PipelineVersion


class SearchRunQuerySet(models.QuerySet["SearchRun"]):
    """Query set of runs, with filters by reader and by origin."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser | None) -> SearchRunQuerySet:
        """Return the runs of which `user` may read something: those on bases that they may see, and their own.

        `search.services.access.visible` says how much of them. None is the site itself, which reads all, as superusers
        do.
        """
        if user is None or getattr(user, "is_superuser", False):
            return self
        visible = KnowledgeBase.objects.visible_to(user)
        allowed = Q(knowledge_base__in=visible.values("pk"))
        if getattr(user, "is_staff", False):
            # A knowledge base that was deleted and imported again counts as the same.
            allowed |= Q(knowledge_base=None, knowledge_base_name__in=visible.values("name"))
        return self.filter(allowed | Q(user=user.pk) if user.is_authenticated else allowed)

    def of_people(self) -> SearchRunQuerySet:
        """Return the searches that people and their programs requested, without those of evaluations."""
        return self.exclude(origin=SearchRun.Origin.EVALUATION)


class SearchRun(models.Model):
    """One search of any origin, also a failed one.

    It stores the question, the release, the settings and the specification that were used, and the answer or the error.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    class Origin(models.TextChoices):
        PAGE = "page", "search page"
        API = "api", "API"
        COMMAND = "command", "command line"
        EVALUATION = "evaluation", "evaluation"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    question = models.TextField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    asker = models.CharField(
        max_length=64, blank=True, editable=False, help_text="Hash of the key of a visitor who was not signed in."
    )
    origin = models.CharField(max_length=12, choices=Origin.choices, default=Origin.API)
    purpose = models.CharField(max_length=200, blank=True)
    evaluation = models.UUIDField(
        null=True, blank=True, db_index=True, help_text="The evaluation that asked; its row is kept by training."
    )
    knowledge_base = models.ForeignKey(KnowledgeBase, null=True, on_delete=models.SET_NULL, related_name="runs")
    knowledge_base_name = models.CharField(max_length=200)
    other_bases = models.JSONField(
        null=True, blank=True, editable=False,
        help_text="Names of other knowledge bases that fit the question, where the asker named none; null if one was.",
    )  # fmt: skip
    release = models.ForeignKey(Release, null=True, on_delete=models.SET_NULL, related_name="runs")
    release_name = models.CharField(max_length=200, blank=True)
    settings_version = models.PositiveIntegerField(default=0)
    pipeline = models.CharField(max_length=100)
    pipeline_version = models.ForeignKey(PipelineVersion, null=True, on_delete=models.SET_NULL, related_name="runs")
    pipeline_number = models.PositiveIntegerField(default=0)
    specification = models.JSONField(default=dict)
    specification_hash = models.CharField(max_length=32, blank=True)
    code_version = models.CharField(max_length=60, blank=True)
    k = models.PositiveIntegerField(default=20)
    plan = models.JSONField(null=True, blank=True, help_text="The plan that the asker brought, as it came.")
    options = models.JSONField(default=dict, help_text="Options that the asker set for this run.")
    follows = models.UUIDField(
        null=True, blank=True, editable=False, help_text="The search that this one follows; its row may be deleted."
    )
    followed = models.JSONField(
        null=True, blank=True, editable=False, help_text="What this one has to know of the search that it follows."
    )
    time_limit = models.FloatField(default=30.0, help_text="Seconds.")
    cancel_requested = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    changes = models.PositiveIntegerField(
        default=0, db_default=0, editable=False, help_text="Grows with everything that is written of the run."
    )
    answer = models.JSONField(null=True, blank=True, help_text="The ranking by ids and the explained results.")
    error = models.JSONField(null=True, blank=True, help_text="What went wrong, as problem details.")
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)

    objects = SearchRunQuerySet.as_manager()

    only_stored = False
    """Whether its reader gets what it stored and nothing else (`search.services.access.visible`); not a column."""

    class Meta:
        ordering = ["-created"]
        indexes = [
            models.Index(fields=["-created"]),
            models.Index(fields=["status"]),
            # The admin's first page counts the searches of people by day, beside many more of evaluations.
            models.Index(fields=["created", "status"], name="searches_of_people", condition=~Q(origin="evaluation")),
            # People's pages list their own searches, newest first.
            models.Index(fields=["user", "-created"], name="searches_of_account", condition=~Q(origin="evaluation")),
            models.Index(fields=["asker", "-created"], name="searches_of_visitor", condition=~Q(asker="")),
        ]
        verbose_name = "search run"

    def __str__(self) -> str:
        return self.question[:80]


class SearchStep(models.Model):
    """One step of a run: its name, role, engine, status, duration and output.

    `name` is the name in its pipeline, `role` one of `search.domain.trace.ROLES`. Code that reads steps uses the role.
    """

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="steps")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=40)
    role = models.CharField(max_length=20, default="other")
    version = models.PositiveSmallIntegerField(default=1, help_text="Format of the output.")
    backend = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=10)
    seconds = models.FloatField(default=0.0)
    detail = models.TextField(blank=True)
    output = models.JSONField(null=True, blank=True)
    prompt_fingerprint = models.CharField(max_length=64, blank=True)
    tokens = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["run", "position"]
        verbose_name = "search step"
        constraints = [models.UniqueConstraint(fields=["run", "position"], name="position_in_run")]

    def __str__(self) -> str:
        return f"{self.position} {self.name}"
