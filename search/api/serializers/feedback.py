"""Feedback on the results of searches."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Text, Whole
from search.services.feedback.give_feedback import KINDS, LONGEST_NOTE


class FeedbackRequestSerializer(serializers.Serializer[Any]):
    """A judgment of one node for one search."""

    node = Text(help_text="Id of a result; of a missing node also its name.")
    kind = serializers.ChoiceField(choices=KINDS)
    note = Text(required=False, allow_null=True, allow_blank=True, max_length=LONGEST_NOTE)


class JudgedNodeSerializer(serializers.Serializer[Any]):
    """A node by id and name."""

    id = Text()
    name = Text(allow_blank=True)


class FeedbackSerializer(serializers.Serializer[Any]):
    """A recorded judgment; `by` is the name of the account, empty for a visitor without one."""

    node = JudgedNodeSerializer()
    kind = serializers.ChoiceField(choices=KINDS)
    rank = Whole(allow_null=True)
    note = Text(allow_blank=True)
    by = Text(allow_blank=True)
    created = serializers.DateTimeField()
