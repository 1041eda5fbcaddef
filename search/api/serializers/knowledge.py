"""Knowledge bases, their schema, their nodes."""

# Fields called `fields`, `label` or `source` are members of the JSON, although DRF uses these names for other things.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from search.api.serializers.basics import Flag, JsonObject, NodeReference, Text, Whole


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
    """A relation with its wordings, its count, and the fields of its edges if they have any."""

    name = Text()
    description = Text(allow_blank=True)
    inverse = Text(allow_blank=True)
    aliases = serializers.ListField(child=Text())
    fields = Field(many=True, required=False)
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

    properties = JsonObject()


class RelationGroup(serializers.Serializer[Any]):
    """One page of the edges of one relation in one direction."""

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
    fields = JsonObject()
    relations = RelationGroup(many=True)
    knowledge_base = Text()
    release = Text()
