"""Uploads in the API's description."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Anything, Text, Whole


class UploadRequestSerializer(serializers.Serializer[Any]):
    """A new upload."""

    title = Text(required=False, allow_blank=True, max_length=200)


class UploadFileSerializer(serializers.Serializer[Any]):
    """A file of an upload: its length, how many bytes have arrived, and its SHA-256 once it is unpacked."""

    id = Text()
    name = Text()
    size = Whole()
    offset = Whole()
    sha256 = Text(allow_blank=True)
    url = Text()


class UploadSerializer(serializers.Serializer[Any]):
    """An upload; `missing` says why it cannot be unpacked yet, `reason` why it was refused."""

    id = Text()
    url = Text()
    title = Text(allow_blank=True)
    source = Text(allow_blank=True)
    state = serializers.ChoiceField(choices=["receiving", "ready", "refused"])
    reason = Text(allow_blank=True)
    missing = Text(allow_blank=True)
    created = serializers.DateTimeField()
    expires = serializers.DateTimeField()
    report = Anything()
    mapping = Anything(allow_null=True)
    files = UploadFileSerializer(many=True)


class UnpackLaunchedSerializer(serializers.Serializer[Any]):
    """The job that unpacks an upload."""

    job = Text()
    state = Text()


class PreviewRequestSerializer(serializers.Serializer[Any]):
    """A mapping with which the upload is previewed; without one, the guessed mapping is used."""

    mapping = Anything(required=False, allow_null=True)


class PreviewSerializer(serializers.Serializer[Any]):
    """The result that an import of an upload would have; `problem` says why it cannot be imported."""

    kind = Text()
    why = Text(allow_blank=True)
    name = Text(allow_blank=True)
    problem = Text(allow_blank=True)
    mapping = Anything(allow_null=True)
    files = Anything()
    schema = Anything()
    nodes = Whole()
    edges = Whole()
    complete = serializers.BooleanField()
    bad_rows = Whole()
    faults = Anything()
    fault_groups = Anything()
    remarks = Anything()
    warnings = Anything()
    estimate = Anything()
