"""Jobs, their kinds and their schedules, as the API describes them."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from search.api.serializers.basics import Anything, Flag, Number, Text, Whole

STATES = ["queued", "running", "done", "failed", "cancelled"]


@extend_schema_field({"type": "object", "additionalProperties": True})
class Mapping(serializers.JSONField):
    """A JSON object."""


class JobRequestSerializer(serializers.Serializer[Any]):
    """A job to launch. `GET job-kinds/` says which kinds need `knowledge_base` and `question_set`."""

    kind = Text()
    knowledge_base = Text(required=False, allow_blank=True)
    question_set = Text(required=False, allow_blank=True, help_text="`name` for its newest version, or `name@version`.")
    arguments = Mapping(required=False)
    queue = Text(required=False, allow_blank=True, help_text="`jobs` or `gpu`; the kind's own unless given.")


class CloneRequestSerializer(serializers.Serializer[Any]):
    """The changes of a copy."""

    arguments = Mapping(required=False)
    queue = Text(required=False, allow_blank=True)


class JobWorkerSerializer(serializers.Serializer[Any]):
    """The process that does, or last did, the job."""

    host = Text()
    process = Whole()


class JobPartSerializer(serializers.Serializer[Any]):
    """One part of a job's work."""

    name = Text()
    weight = Number(help_text="Seconds that it is foreseen to take.")
    size = Number(required=False, help_text="Seconds that a reference machine would take.")
    done = Whole()
    total = Whole(allow_null=True)
    seconds = Number()
    finished = Flag(required=False)


class JobProgressSerializer(serializers.Serializer[Any]):
    """The progress of a job. `done` and `total` count within `part`; `share` is the share of the whole job."""

    part = Text(allow_blank=True)
    done = Whole()
    total = Whole(allow_null=True)
    share = Number(required=False)
    seconds_left = Number(allow_null=True, help_text="About the middle of the range; null while too little is known.")
    seconds_left_range = serializers.ListField(
        child=Number(), allow_null=True, required=False,
        help_text="Two times between which the job ends nine times of ten; null while too little is known.",
    )  # fmt: skip
    seconds = Number(required=False)
    parts = JobPartSerializer(many=True)


class JobSummarySerializer(serializers.Serializer[Any]):
    """A job as lists show it."""

    id = serializers.UUIDField()
    kind = Text()
    title = Text()
    knowledge_base = Text(allow_null=True)
    release = Text(allow_null=True)
    question_set = Text(allow_null=True)
    arguments = Mapping()
    queue = Text()
    state = serializers.ChoiceField(STATES)
    attempt = Whole()
    reason = Text(allow_blank=True, help_text="Why it waits, failed or was cancelled.")
    waiting = Text(allow_blank=True, help_text="Why no worker takes it, and what starts one.")
    progress = JobProgressSerializer()
    worker = JobWorkerSerializer(allow_null=True)
    user = Text(allow_null=True)
    origin = Text()
    cancel_requested = Flag()
    cloned_from = serializers.UUIDField(allow_null=True)
    created = serializers.DateTimeField()
    started = serializers.DateTimeField(allow_null=True)
    finished = serializers.DateTimeField(allow_null=True)
    heartbeat = serializers.DateTimeField(allow_null=True)
    changes = Whole(help_text="Increases with every change.")


class JobPointSerializer(serializers.Serializer[Any]):
    """A point of a series."""

    name = Text()
    step = Whole()
    value = Number()


class JobLineSerializer(serializers.Serializer[Any]):
    """A line of the log."""

    at = serializers.DateTimeField()
    attempt = Whole()
    text = Text(allow_blank=True)


class JobSerializer(JobSummarySerializer):
    """A whole job."""

    specification = Mapping()
    specification_hash = Text()
    seed = Whole()
    code_version = Text(allow_blank=True)
    metrics = JobPointSerializer(many=True)
    log = JobLineSerializer(many=True, help_text="The last lines.")
    resources = Mapping()
    result = Anything(allow_null=True)


class JobKindSerializer(serializers.Serializer[Any]):
    """A kind of job: the targets that it needs, those that it may do without, and its arguments as a JSON schema."""

    kind = Text()
    title = Text()
    queue = Text()
    targets = serializers.ListField(child=Text())
    optional_targets = serializers.ListField(child=Text())
    arguments_schema = Mapping()


class ScheduleRequestSerializer(serializers.Serializer[Any]):
    """A job, and when it is launched."""

    name = Text()
    cron = Text(help_text="Minute, hour, day of month, month, day of week, in UTC: `30 2 * * *`.")
    kind = Text()
    knowledge_base = Text(required=False, allow_blank=True)
    question_set = Text(required=False, allow_blank=True)
    arguments = Mapping(required=False)
    enabled = Flag(required=False)


class ScheduleSerializer(serializers.Serializer[Any]):
    """A schedule, and the outcome of its last launch."""

    id = Whole()
    name = Text()
    cron = Text()
    kind = Text()
    knowledge_base = Text(allow_null=True)
    question_set = Text(allow_null=True)
    arguments = Mapping()
    enabled = Flag()
    next_run = serializers.DateTimeField(allow_null=True)
    last_run = serializers.DateTimeField(allow_null=True)
    last_outcome = Text(allow_blank=True)
