"""What the API takes and gives, for its OpenAPI description.

Requests are not checked here but by the services, which name every fault.
"""

# A field called `fields`, `label` or `source` is a member of the JSON, whatever else DRF calls so.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from functools import lru_cache
from typing import Any

from drf_spectacular.utils import OpenApiResponse, inline_serializer
from rest_framework import serializers

Text, Whole, Number, Flag = (
    serializers.CharField,
    serializers.IntegerField,
    serializers.FloatField,
    serializers.BooleanField,
)


class Anything(serializers.JSONField):
    """Any JSON value."""


class Fault(serializers.Serializer[Any]):
    """One fault: where it is (a JSON pointer into the request), what is wrong, and the nearest valid name."""

    pointer = Text(allow_blank=True)
    message = Text()
    nearest = Text(required=False)


class Problem(serializers.Serializer[Any]):
    """Problem details (RFC 9457)."""

    type = Text()
    title = Text()
    status = Whole()
    detail = Text(allow_blank=True)
    instance = Text()
    request_id = Text()
    errors = Fault(many=True)


class NodeReference(serializers.Serializer[Any]):
    """A node by id, type and name."""

    id = Text()
    type = Text()
    name = Text(allow_blank=True)


class KnowledgeBase(serializers.Serializer[Any]):
    """A knowledge base with its counts."""

    name = Text()
    title = Text()
    description = Text(allow_blank=True)
    domain = Text(allow_blank=True)
    language = Text()
    licence = Text(allow_blank=True)
    source = Text(allow_blank=True)
    examples = serializers.ListField(child=Text())
    visibility = Text()
    release = Text(allow_null=True)
    nodes = Whole()
    edges = Whole()


class Field(serializers.Serializer[Any]):
    """A typed field of a node type."""

    name = Text()
    kind = serializers.ChoiceField(["text", "keyword", "number", "date"])
    many = Flag()
    coverage = Whole()
    inferred = Flag()


class NodeType(serializers.Serializer[Any]):
    """A node type with its count."""

    name = Text()
    count = Whole()
    answerable = Flag()
    aliases = serializers.ListField(child=Text())
    description = Text(allow_blank=True)
    hidden = Flag()
    fields = Field(many=True)


class Relation(serializers.Serializer[Any]):
    """A relation with its wordings and count."""

    name = Text()
    description = Text(allow_blank=True)
    inverse = Text(allow_blank=True)
    aliases = serializers.ListField(child=Text())
    count = Whole()


class RelationType(serializers.Serializer[Any]):
    """A relation between two node types, in the stored direction."""

    source = Text()
    relation = Text()
    target = Text()
    count = Whole()


class KnowledgeBaseSchema(KnowledgeBase):
    """A knowledge base with its schema."""

    node_types = NodeType(many=True)
    relations = Relation(many=True)
    relation_types = RelationType(many=True)


class Neighbour(NodeReference):
    """A node at the other end of an edge, with the edge's properties."""

    properties = serializers.DictField(child=Anything())


class RelationGroup(serializers.Serializer[Any]):
    """The edges of one relation in one direction, a page of them."""

    relation = Text()
    direction = serializers.ChoiceField(["out", "in"])
    wording = Text()
    count = Whole()
    more = Flag()
    page = Whole()
    pages = Whole()
    items = Neighbour(many=True)


class Node(NodeReference):
    """A node with fields and relations."""

    aliases = serializers.ListField(child=Text())
    url = Text(allow_blank=True)
    fields = serializers.DictField(child=Anything())
    relations = RelationGroup(many=True)
    knowledge_base = Text()
    release = Text()


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
    question = Text(max_length=2000)
    pipeline = Text(required=False)
    k = Whole(required=False, min_value=1, max_value=100, default=20)
    plan = serializers.DictField(child=Anything(), required=False, allow_null=True)
    settings = serializers.DictField(child=Anything(), required=False, allow_null=True)


class UsedPipeline(serializers.Serializer[Any]):
    """The pipeline of a search, as it was frozen for it."""

    name = Text()
    version = Whole()
    specification = serializers.DictField(child=Anything())


class Degraded(serializers.Serializer[Any]):
    """A stage that a search went without."""

    stage = Text()
    reason = Text(allow_blank=True)


class PlanEntry(serializers.Serializer[Any]):
    """A plan in the list of plans, with how many candidates it found."""

    plan = serializers.DictField(child=Anything())
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
    """The arithmetic of the fusion."""

    method = Text()
    k = Number()
    weights = serializers.DictField(child=Number())
    bucket = Text(allow_blank=True)
    risk = Text(allow_blank=True)
    leads = Flag()


class Result(serializers.Serializer[Any]):
    """A result with its arithmetic and evidence."""

    rank = Whole()
    score = Number()
    node = NodeReference()
    snippet = Text(allow_blank=True)
    scores = serializers.DictField(child=serializers.DictField(child=Anything()))
    evidence = serializers.DictField(child=Anything(), allow_null=True)


class Step(serializers.Serializer[Any]):
    """A step of a search."""

    name = Text()
    backend = Text(allow_blank=True)
    status = serializers.ChoiceField(["ok", "degraded", "failed", "skipped"])
    seconds = Number()
    detail = Text(allow_blank=True)


class Search(serializers.Serializer[Any]):
    """A search, as far as it has come."""

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
    degraded = Degraded(many=True)
    plan = serializers.DictField(child=Anything(), allow_null=True)
    plans = PlanEntry(many=True)
    linked = Linked(many=True)
    graph = Graph(allow_null=True)
    fusion = Fusion(allow_null=True)
    results = Result(many=True)
    steps = Step(many=True)


class Service(serializers.Serializer[Any]):
    """The state of a service that a search needs."""

    name = Text()
    state = serializers.ChoiceField(["ready", "down"])
    reason = Text(allow_blank=True)


class Readiness(serializers.Serializer[Any]):
    """Whether a search can be asked, and why not."""

    ready = Flag()
    services = Service(many=True)


@lru_cache(maxsize=16)
def page_of(item: type[serializers.Serializer[Any]]) -> Any:
    """Return the envelope of a page of such items."""
    return inline_serializer(
        name=f"{item.__name__}Page",
        fields={
            "count": Whole(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": item(many=True),
        },
    )


def problems(*codes: int) -> dict[Any, Any]:
    """Return the descriptions of the errors that an operation answers with."""
    meanings = {
        400: "The request is not valid; every fault is listed.", 403: "Not for this caller.",
        404: "There is no such thing, or it is not for this caller.", 413: "The body is too large.",
        415: "The body is not application/json.", 503: "A service does not answer; the problem names it.",
    }  # fmt: skip
    return {(code, "application/problem+json"): OpenApiResponse(Problem, description=meanings[code]) for code in codes}
