"""What people say about the results of searches: right, wrong, or missing."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from search.models.runs import SearchRun


class Feedback(models.Model):
    """One person's judgment of one node for one search. A person is an account, or a visitor known by a hash.

    Searches with feedback are kept when others are pruned, because question sets are made of it.
    """

    class Kind(models.TextChoices):
        RIGHT = "right", "right"
        WRONG = "wrong", "wrong"
        MISSING = "missing", "missing"

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="feedback")
    node_id = models.TextField()
    node_name = models.TextField(blank=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    rank = models.PositiveIntegerField(null=True, blank=True, help_text="Of the result; empty for a missing one.")
    note = models.TextField(blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    asker = models.CharField(
        max_length=64, blank=True, editable=False, help_text="Hash of the key of a visitor who was not signed in."
    )
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-created"]
        verbose_name = verbose_name_plural = "feedback"
        constraints = [
            models.UniqueConstraint(fields=["run", "node_id", "user"], name="feedback_of_account"),
            models.UniqueConstraint(
                fields=["run", "node_id", "asker"], condition=~Q(asker=""), name="feedback_of_visitor"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.node_name or self.node_id}: {self.kind}"
