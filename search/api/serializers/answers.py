"""Answers of a plan, and their facets."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from search.api.serializers.basics import Anything, JsonObject, NodeReferenceSerializer, Number, Text, Whole


class ListedAnswerSerializer(serializers.Serializer[Any]):
    """An answer of the plan. With an order, `value` is what orders it; `equal` says that a neighbour shares its place.

    Equal values share a place. `value` is null where the node does not have the field.
    """

    number = Whole()
    node = NodeReferenceSerializer()
    value = Anything(required=False, allow_null=True)
    place = Whole(required=False)
    equal = serializers.BooleanField(required=False)


class FacetValueSerializer(serializers.Serializer[Any]):
    """A value, the number of answers that have it, and the parts of a plan that select them."""

    label = Text()
    count = Whole()
    adds = JsonObject()


class FacetSerializer(serializers.Serializer[Any]):
    """Values of the answers in one respect; `more` is the number of values that are left out.

    `worth` says how well the shown values split the answers, from 0 to 1. A relation has a `direction`: `out` if its
    edges are stored from the answers.
    """

    kind = serializers.ChoiceField(["type", "field", "relation"])
    name = Text()
    values = FacetValueSerializer(many=True)
    more = Whole()
    worth = Number()
    direction = serializers.ChoiceField(["out", "in"], required=False)


# A class of a generated client and its only member cannot have one name.
@extend_schema_serializer(component_name="SearchFacets")
class FacetsSerializer(serializers.Serializer[Any]):
    """The facets of a plan's answers, best first; `looked_at` of the `answers` were counted, taken evenly."""

    facets = FacetSerializer(many=True)
    looked_at = Whole()
    answers = Whole()
