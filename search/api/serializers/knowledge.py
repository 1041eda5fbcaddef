"""Knowledge bases, their schema, their nodes."""

# Fields called `fields`, `label` or `source` are members of the JSON, although DRF uses these names for other things.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Flag, JsonObject, NodeReferenceSerializer, Text, Whole


class KnowledgeBaseSerializer(serializers.Serializer[Any]):
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


class FieldSerializer(serializers.Serializer[Any]):
    """A typed field of a node type."""

    name = Text()
    kind = serializers.ChoiceField(["text", "keyword", "number", "date"])
    many = Flag()
    coverage = Whole()
    inferred = Flag()


class NodeTypeSerializer(serializers.Serializer[Any]):
    """A node type with its count."""

    name = Text()
    count = Whole()
    answerable = Flag()
    aliases = serializers.ListField(child=Text())
    description = Text(allow_blank=True)
    hidden = Flag()
    fields = FieldSerializer(many=True)


class RelationSerializer(serializers.Serializer[Any]):
    """A relation with its wordings, its count, and the fields of its edges if they have any."""

    name = Text()
    description = Text(allow_blank=True)
    inverse = Text(allow_blank=True)
    aliases = serializers.ListField(child=Text())
    fields = FieldSerializer(many=True, required=False)
    count = Whole()


class RelationTypeSerializer(serializers.Serializer[Any]):
    """A relation between two node types, in the stored direction."""

    source = Text()
    relation = Text()
    target = Text()
    count = Whole()


class KnowledgeBaseSchemaSerializer(KnowledgeBaseSerializer):
    """A knowledge base with its schema."""

    node_types = NodeTypeSerializer(many=True)
    relations = RelationSerializer(many=True)
    relation_types = RelationTypeSerializer(many=True)


class NeighbourSerializer(NodeReferenceSerializer):
    """A node at the other end of an edge, with the edge's properties."""

    properties = JsonObject()


class RelationGroupSerializer(serializers.Serializer[Any]):
    """One page of the edges of one relation in one direction."""

    relation = Text()
    direction = serializers.ChoiceField(["out", "in"])
    wording = Text()
    count = Whole()
    more = Flag()
    page = Whole()
    pages = Whole()
    items = NeighbourSerializer(many=True)


class NodeSerializer(NodeReferenceSerializer):
    """A node with fields and relations."""

    aliases = serializers.ListField(child=Text())
    url = Text(allow_blank=True)
    fields = JsonObject()
    relations = RelationGroupSerializer(many=True)
    knowledge_base = Text()
    release = Text()
