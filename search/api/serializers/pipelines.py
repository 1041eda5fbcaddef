"""Versions of pipelines: their options, which one searches use, and the requests that make or switch them."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from search.api.serializers.basics import Flag, JsonObject, Text, Whole


class PipelineVersionSerializer(serializers.Serializer[Any]):
    """A version of a pipeline for a knowledge base: the options that replace those of the site."""

    knowledge_base = Text()
    pipeline = Text()
    version = Whole()
    options = JsonObject(help_text="Options as {stage.option: value}.")
    artifacts = serializers.DictField(child=Text(), help_text="The options that name an artifact.")
    active = Flag(help_text="Whether the next searches use it.")
    note = Text(allow_blank=True)
    author = Text(allow_null=True)
    created = serializers.DateTimeField()
    activated = serializers.DateTimeField(allow_null=True)


class PipelineVersionRequestSerializer(serializers.Serializer[Any]):
    """A new version: options that are laid over those of the active version, or all that it has (`whole`)."""

    knowledge_base = Text()
    options = JsonObject()
    note = Text(required=False, max_length=2_000)
    activate = Flag(required=False, default=False)
    whole = Flag(required=False, default=False)


class SwitchRequestSerializer(serializers.Serializer[Any]):
    """The knowledge base whose searches use another version from now on."""

    knowledge_base = Text()


# A class of a generated client and its only member cannot have one name.
@extend_schema_serializer(component_name="VersionInUse")
class InUseSerializer(serializers.Serializer[Any]):
    """The version that the next searches use; version 0, the site's specification, has no row and is null."""

    version = Whole()
    in_use = PipelineVersionSerializer(allow_null=True)
