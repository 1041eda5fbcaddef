"""What people keep for themselves: saved searches, and collections of results with notes."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from search.models.knowledge import KnowledgeBase
from search.models.runs import SearchRun


class Owned(models.Model):
    """Something of one person: of an account, or of a visitor known by the hash of a key (`Visitor.asker`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.CASCADE, related_name="+"
    )
    asker = models.CharField(
        max_length=64, blank=True, editable=False, help_text="Hash of the key of a visitor who was not signed in."
    )
    name = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class SavedSearch(Owned):
    """A search that a person keeps. Searches that somebody keeps are not pruned."""

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="saved")

    class Meta:
        ordering = ["-created"]
        verbose_name, verbose_name_plural = "saved search", "saved searches"
        indexes = [models.Index(fields=["asker"], name="saved_of_visitor", condition=~Q(asker=""))]
        constraints = [
            models.UniqueConstraint(fields=["run", "user"], name="saved_by_account"),
            models.UniqueConstraint(fields=["run", "asker"], condition=~Q(asker=""), name="saved_by_visitor"),
        ]

    def __str__(self) -> str:
        return self.name


class Collection(Owned):
    """A named list of results. Nobody but its owner sees it, unless it has a key; the key is part of its link."""

    key = models.CharField(max_length=40, blank=True, editable=False, db_index=True)

    class Meta:
        ordering = ["-changed"]
        indexes = [models.Index(fields=["asker"], name="collections_of_visitor", condition=~Q(asker=""))]

    def __str__(self) -> str:
        return self.name


class CollectionItem(models.Model):
    """A result in a collection: the node, and the question, rank and evidence with which it was found.

    What was shown of the result is stored, because the search and the release may be deleted. A removed item keeps its
    row, so that the removal can be undone; the retention deletes it later.
    """

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField(help_text="Place in the order by hand; the first item has the lowest.")
    knowledge_base = models.ForeignKey(KnowledgeBase, null=True, on_delete=models.SET_NULL, related_name="+")
    knowledge_base_name = models.CharField(max_length=200)
    node_id = models.TextField()
    node_type = models.TextField(blank=True)
    node_name = models.TextField(blank=True)
    run = models.UUIDField(null=True, blank=True, help_text="The search that found it; its row may be deleted.")
    question = models.TextField(blank=True)
    rank = models.PositiveIntegerField(null=True, blank=True)
    evidence = models.TextField(blank=True, help_text="The first path of the result in words, or its snippet.")
    note = models.TextField(blank=True)
    added = models.DateTimeField(auto_now_add=True)
    removed = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = "item of a collection"
        verbose_name_plural = "items of collections"
        constraints = [
            models.UniqueConstraint(fields=["collection", "knowledge_base_name", "node_id"], name="node_in_collection")
        ]

    def __str__(self) -> str:
        return self.node_name or self.node_id
