"""Searches of one question side by side."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Flag, JsonObject, NodeReferenceSerializer, Number, Text, Whole
from search.api.serializers.searches import DegradedSerializer, ModelUseSerializer
from search.domain.plan.changes import PLAN_PARTS


class ComparedPipelineSerializer(serializers.Serializer[Any]):
    """The pipeline of a search; version 0 is the site's own specification."""

    name = Text()
    title = Text()
    version = Whole()


class SharedPartSerializer(serializers.Serializer[Any]):
    """A part of a plan in words, and the indexes of the searches whose plan has it."""

    part = serializers.ChoiceField(PLAN_PARTS)
    text = Text()
    searches = serializers.ListField(child=Whole())


class ComparedSearchSerializer(serializers.Serializer[Any]):
    """A search of a comparison.

    `only_here` are the ids that no other search lists, null until all have ended. `plan` is null without a plan.
    """

    id = serializers.UUIDField()
    pipeline = ComparedPipelineSerializer()
    release = Text(allow_null=True)
    status = serializers.ChoiceField(["queued", "running", "done", "failed", "cancelled"])
    seconds = Number(allow_null=True)
    results = Whole()
    model_use = ModelUseSerializer(allow_null=True)
    only_here = serializers.ListField(child=Text(), allow_null=True)
    plan = SharedPartSerializer(many=True, allow_null=True)
    degraded = DegradedSerializer(many=True)
    error = JsonObject(allow_null=True)


class ComparedNodeSerializer(serializers.Serializer[Any]):
    """A result, and its rank in each search; null in a search that does not list it."""

    node = NodeReferenceSerializer()
    ranks = serializers.ListField(child=serializers.IntegerField(allow_null=True))


class AgreementSerializer(serializers.Serializer[Any]):
    """How far two finished searches agree, by their indexes.

    `same` results are in the first `depth` of both, `overlap` is their share (null if both are empty). `correlation` is
    Kendall's τ over the order of the `common` results of both; null for fewer than two.
    """

    first = Whole()
    second = Whole()
    same = Whole()
    depth = Whole()
    overlap = Number(allow_null=True)
    common = Whole()
    correlation = Number(allow_null=True)


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two to four searches of one question side by side; `nodes` are in the order of their best rank."""

    question = Text()
    knowledge_base = Text()
    finished = Flag()
    searches = ComparedSearchSerializer(many=True)
    nodes = ComparedNodeSerializer(many=True)
    agreement = AgreementSerializer(many=True)
