"""Knowledge bases and their data: a knowledge base points to one active release; new ones are built beside it."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from search.domain.graph import Schema
from search.domain.vector_kinds import USUAL


class KnowledgeBaseQuerySet(models.QuerySet["KnowledgeBase"]):
    """Query set of knowledge bases that can be restricted to those that a user may see."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser | None) -> KnowledgeBaseQuerySet:
        """Return the knowledge bases that `user` may search; None is a command of this machine, which sees all."""
        if user is None or getattr(user, "is_superuser", False):
            return self
        allowed = Q(visibility=KnowledgeBase.Visibility.PUBLIC)
        if user.is_authenticated:
            allowed |= Q(visibility=KnowledgeBase.Visibility.MEMBERS, members=user.pk)
            if getattr(user, "is_staff", False):
                allowed |= Q(visibility=KnowledgeBase.Visibility.STAFF)
        return self.filter(pk__in=self.model._default_manager.filter(allowed).values("pk"))


class KnowledgeBase(models.Model):
    """A named knowledge base: its description, its visibility, and its active release."""

    class Visibility(models.TextChoices):
        PUBLIC = "public", "Everybody"
        MEMBERS = "members", "Its members"
        STAFF = "staff", "Staff"

    name = models.CharField(max_length=100, unique=True)
    title = models.CharField(max_length=300, blank=True)
    description = models.TextField(blank=True)
    domain = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=20, default="en")
    licence = models.TextField(blank=True)
    source = models.TextField(blank=True)
    examples = models.JSONField(default=list, blank=True, help_text="Questions that the search page offers.")
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="knowledge_bases")
    active_release = models.ForeignKey("Release", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    active_settings = models.ForeignKey(
        "KnowledgeBaseSettings", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)

    objects = KnowledgeBaseQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name = "knowledge base"

    def __str__(self) -> str:
        return self.title or self.name


class KnowledgeBaseSettings(models.Model):
    """One version of a knowledge base's settings; a change makes a new version, and runs record the one they used."""

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="settings_versions")
    version = models.PositiveIntegerField()
    values = models.JSONField(default=dict, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        verbose_name = "settings version"
        constraints = [
            models.UniqueConstraint(fields=["knowledge_base", "version"], name="settings_version_of_knowledge_base")
        ]

    def __str__(self) -> str:
        return f"{self.knowledge_base.name} settings {self.version}"


class BuildStatus(models.TextChoices):
    """Build status of a snapshot, vector set or release."""

    BUILDING = "building", "being built"
    READY = "ready", "ready"
    FAILED = "failed", "failed"
    DROPPED = "dropped", "dropped"


class Snapshot(models.Model):
    """The graph and texts of one import; never changed afterwards.

    Nodes and edges are in the snapshot's partitions, memory-mapped files in `directory`.
    """

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="snapshots")
    status = models.CharField(max_length=10, choices=BuildStatus.choices, default=BuildStatus.BUILDING)
    source = models.TextField(blank=True, help_text="Where the bundle was read from.")
    content_hash = models.CharField(max_length=64, blank=True, help_text="BLAKE2b over the bundle's files.")
    schema_json = models.JSONField(default=dict, help_text="Types, relations and counts.")
    about = models.JSONField(
        default=dict, help_text="Title, description, domain, language, licence, source and examples of the bundle."
    )
    mapping = models.JSONField(
        null=True, blank=True, help_text="What the columns of plain files are; the next import is offered it."
    )
    nodes = models.PositiveBigIntegerField(default=0)
    edges = models.PositiveBigIntegerField(default=0)
    bad_rows = models.PositiveBigIntegerField(default=0)
    seconds = models.JSONField(default=dict, help_text="Seconds that each part of the import took.")
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = verbose_name_plural = "imported data"

    def __str__(self) -> str:
        return f"{self.knowledge_base.name} import {self.pk}"

    @property
    def schema(self) -> Schema:
        """The schema as planners read it."""
        return Schema.from_json(self.schema_json)

    @property
    def directory(self) -> Path:
        """The folder of this snapshot's memory-mapped files: node references, adjacency, mentions, BM25."""
        return Path(settings.GRASP_HOME) / "indexes" / f"snapshot-{self.pk}"


def usual_kinds() -> list[str]:
    """Return the kinds of vectors that every vector set has."""
    return list(USUAL)


class VectorSet(models.Model):
    """One encoder's vectors of one snapshot."""

    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.CASCADE, related_name="vector_sets", verbose_name="imported data"
    )
    encoder = models.CharField(max_length=200, help_text="Model and revision.")
    dimensions = models.PositiveIntegerField()
    kinds = ArrayField(models.TextField(), default=usual_kinds, help_text="Which texts of an entity have vectors.")
    status = models.CharField(max_length=10, choices=BuildStatus.choices, default=BuildStatus.BUILDING)
    vectors = models.PositiveBigIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "vector set"

    def __str__(self) -> str:
        return f"vectors {self.pk} by {self.encoder}"

    @property
    def directory(self) -> Path:
        """The folder of this set's memory-mapped matrix, within the snapshot's folder."""
        return self.snapshot.directory / f"vectors-{self.pk}"


class Release(models.Model):
    """A snapshot with a vector set and indexes, ready for searches; numbered within its knowledge base."""

    knowledge_base = models.ForeignKey(KnowledgeBase, on_delete=models.CASCADE, related_name="releases")
    number = models.PositiveIntegerField()
    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.PROTECT, related_name="releases", verbose_name="imported data"
    )
    vector_set = models.ForeignKey(VectorSet, null=True, blank=True, on_delete=models.PROTECT, related_name="releases")
    status = models.CharField(max_length=10, choices=BuildStatus.choices, default=BuildStatus.BUILDING)
    created = models.DateTimeField(auto_now_add=True)
    activated = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["knowledge_base", "number"], name="release_of_knowledge_base")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The name that runs and reports keep, even after the release is dropped."""
        return f"{self.knowledge_base.name}-{self.number}"

    @property
    def similar_directory(self) -> Path:
        """The folder of this release's similarity edges, within the snapshot's folder; most releases have none."""
        return self.snapshot.directory / f"similar-{self.pk}"


class Node(models.Model):
    """One node; the table is list-partitioned by snapshot, so no foreign key refers to it.

    `key` is the position in the bytewise order of ids, `type` the code of the node type in the snapshot's schema.
    """

    pk = models.CompositePrimaryKey("snapshot_id", "key")
    snapshot_id = models.BigIntegerField()
    key = models.IntegerField()
    id = models.TextField()
    type = models.SmallIntegerField()
    name = models.TextField()
    aliases = ArrayField(models.TextField(), default=list)
    url = models.TextField(default="")
    fields = models.JSONField(default=dict)

    class Meta:
        managed = False
        db_table = "search_node"

    def __str__(self) -> str:
        return self.name


class Edge(models.Model):
    """One edge in its stored direction; the types of its ends are stored with it, so that a typed hop needs no join."""

    pk = models.CompositePrimaryKey("snapshot_id", "source", "relation", "target")
    snapshot_id = models.BigIntegerField()
    relation = models.SmallIntegerField()
    source = models.IntegerField()
    target = models.IntegerField()
    source_type = models.SmallIntegerField()
    target_type = models.SmallIntegerField()
    properties = models.JSONField(null=True)

    class Meta:
        managed = False
        db_table = "search_edge"

    def __str__(self) -> str:
        return f"{self.source} {self.relation} {self.target}"


class Vector(models.Model):
    """One vector of a node, of a kind (`search.domain.vector_kinds` lists them).

    `part` numbers the vectors of a kind that a node has several of: the stretches of its document.
    The column is `halfvec` without a dimension; each vector set has expression indexes of its own. `text_hash` is
    BLAKE2b-128 of the text that was embedded: a text whose hash is known to the same encoder is not embedded again.
    """

    pk = models.CompositePrimaryKey("vector_set_id", "kind", "key", "part")
    vector_set_id = models.BigIntegerField()
    kind = models.TextField()
    key = models.IntegerField()
    part = models.SmallIntegerField(default=0)
    type = models.SmallIntegerField()
    text_hash = models.BinaryField()

    class Meta:
        managed = False
        db_table = "search_vector"

    def __str__(self) -> str:
        return f"{self.kind} of {self.key}"
