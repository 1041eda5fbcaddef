"""Pipelines, searches, and the services that they need."""

# A field called `fields`, `label` or `source` is a member of the JSON, whatever else DRF calls so.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Anything, Flag, NodeReference, Number, Text, Whole
from search.domain.trace import ROLES
from search.services.searches.request_search import MAX_QUESTION


class Pipeline(serializers.Serializer[Any]):
    """A pipeline, its version, and the JSON schema of the options a search may set."""

    name = Text()
    title = Text()
    description = Text()
    version = Whole()
    available = Flag()
    reason = Text(allow_null=True)
    settings_schema = serializers.DictField(child=Anything(), allow_null=True)


class SearchRequest(serializers.Serializer[Any]):
    """A question to a knowledge base."""

    knowledge_base = Text(max_length=100)
    question = Text(max_length=MAX_QUESTION)
    pipeline = Text(required=False)
    k = Whole(required=False, min_value=1, max_value=100, default=20)
    plan = serializers.DictField(child=Anything(), required=False, allow_null=True)
    settings = serializers.DictField(child=Anything(), required=False, allow_null=True)


class Stage(serializers.Serializer[Any]):
    """A stage of a pipeline: what it is for, and what pages call it and say while it runs."""

    name = Text()
    role = serializers.ChoiceField(ROLES)
    title = Text()
    doing = Text()


class UsedPipeline(serializers.Serializer[Any]):
    """The pipeline of a search, as it was frozen for it; `flow` has its stages in the order in which they run."""

    name = Text()
    title = Text()
    version = Whole()
    specification = serializers.DictField(child=Anything())
    flow = Stage(many=True)


class Degraded(serializers.Serializer[Any]):
    """A stage that a search went without."""

    stage = Text()
    reason = Text(allow_blank=True)


class PlanEntry(serializers.Serializer[Any]):
    """A plan in the list of plans, with how many candidates it found.

    Where it found nothing at first and was changed, `plan` is what found them, `given` the plan as it was before, and
    `dropped` the conditions that count as text since.
    """

    plan = serializers.DictField(child=Anything())
    given = serializers.DictField(child=Anything(), required=False)
    dropped = serializers.ListField(child=Text(), required=False)
    source = serializers.ChoiceField(["schema", "llm", "learned", "user"])
    probability = Number()
    found = Whole()


class Binding(serializers.Serializer[Any]):
    """A node that an anchor is bound to."""

    node = NodeReference()
    score = Number()


class Linked(serializers.Serializer[Any]):
    """An anchor of a plan with its bindings."""

    plan_index = Whole()
    anchor = Text()
    bindings = Binding(many=True)


class Graph(serializers.Serializer[Any]):
    """What ran in the graph."""

    backend = Text(allow_blank=True)
    query = Text(allow_blank=True)
    queries = serializers.ListField(child=serializers.DictField(child=Anything()))
    candidates = Whole()
    truncated = Flag()


class Fusion(serializers.Serializer[Any]):
    """The arithmetic of the fusion, and what pages call its lists."""

    method = Text()
    k = Number()
    weights = serializers.DictField(child=Number())
    bucket = Text(allow_blank=True)
    risk = Text(allow_blank=True)
    leads = Flag()
    trust = serializers.DictField(
        child=serializers.DictField(child=Anything()), help_text="How far lists are to be trusted, by name."
    )
    titles = serializers.DictField(child=Text())


class Result(serializers.Serializer[Any]):
    """A result with its arithmetic and evidence."""

    rank = Whole()
    score = Number()
    node = NodeReference()
    snippet = Text(allow_blank=True)
    scores = serializers.DictField(child=serializers.DictField(child=Anything()))
    fused = serializers.DictField(
        child=serializers.DictField(child=Anything()), help_text="Fused lists that were fused again, by name."
    )
    evidence = serializers.DictField(child=Anything(), allow_null=True)


class Step(serializers.Serializer[Any]):
    """A step of a search: `name` is the pipeline's, `role` what it is for, whatever the pipeline.

    The last two are filled where a language model was asked: the prompt's version, tokens by kind.
    """

    name = Text()
    role = serializers.ChoiceField(ROLES)
    title = Text()
    backend = Text(allow_blank=True)
    status = serializers.ChoiceField(["ok", "degraded", "failed", "skipped"])
    seconds = Number()
    detail = Text(allow_blank=True)
    prompt_fingerprint = Text(allow_blank=True)
    tokens = serializers.DictField(child=Whole())


class OtherPlan(serializers.Serializer[Any]):
    """The results that another plan than the one shown put where they stand, by rank."""

    plan_index = Whole()
    ranks = serializers.ListField(child=Whole())


class Search(serializers.Serializer[Any]):
    """A search, as far as it has come.

    `plans` are in the order of their probability. `plan` is the one that put the first result where it stands, and
    `plan_index` its place in `plans`; `other_plans` names the results that come from others.
    """

    id = serializers.UUIDField()
    status = serializers.ChoiceField(["queued", "running", "done", "failed", "cancelled"])
    question = Text(allow_blank=True)
    knowledge_base = Text(allow_blank=True)
    release = Text(allow_null=True)
    pipeline = UsedPipeline()
    k = Whole()
    seconds = Number(allow_null=True)
    created = serializers.DateTimeField()
    error = serializers.DictField(child=Anything(), allow_null=True)
    waiting = Text(allow_null=True)
    changes = serializers.IntegerField(help_text="Grows with everything that is written of the search.")
    degraded = Degraded(many=True)
    plan = serializers.DictField(child=Anything(), allow_null=True)
    plan_index = Whole(allow_null=True)
    other_plans = OtherPlan(many=True)
    plans = PlanEntry(many=True)
    linked = Linked(many=True)
    graph = Graph(allow_null=True)
    fusion = Fusion(allow_null=True)
    results = Result(many=True)
    steps = Step(many=True)


class Service(serializers.Serializer[Any]):
    """The state of a service that a search needs."""

    name = Text()
    state = serializers.ChoiceField(["ready", "degraded", "down"])
    reason = Text(allow_blank=True)


class Readiness(serializers.Serializer[Any]):
    """Whether a search can be asked, and why not."""

    ready = Flag()
    services = Service(many=True)
