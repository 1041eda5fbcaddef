"""Parts that all serializers share: kinds of values, faults, problem details, pages."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from functools import lru_cache
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.plumbing import ResolvedComponent
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


class JsonObject(serializers.DictField):
    """An object of JSON with any members: plans, settings, and what stages record."""

    child = Anything()


class JsonObjectSchema(OpenApiSerializerFieldExtension):
    """Describes every JSON object by one component, so that generated clients have one type for it."""

    target_class = JsonObject

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        """Return the reference to the component."""
        component = ResolvedComponent(
            name="JsonObject", type=ResolvedComponent.SCHEMA, object="JsonObject",
            schema={"type": "object", "additionalProperties": {}, "description": "An object with any members."},
        )  # fmt: skip
        auto_schema.registry.register_on_missing(component)
        return component.ref


class FaultSerializer(serializers.Serializer[Any]):
    """One fault: where it is (a JSON pointer into the request), what is wrong, and the nearest valid name."""

    pointer = Text(allow_blank=True)
    message = Text()
    nearest = Text(required=False)


class ProblemSerializer(serializers.Serializer[Any]):
    """Problem details (RFC 9457)."""

    type = Text()
    title = Text()
    status = Whole()
    detail = Text(allow_blank=True)
    instance = Text()
    request_id = Text()
    errors = FaultSerializer(many=True)


class NodeReferenceSerializer(serializers.Serializer[Any]):
    """A node by id, type and name."""

    id = Text()
    type = Text()
    name = Text(allow_blank=True)


@lru_cache(maxsize=16)
def page_of(item: type[serializers.Serializer[Any]]) -> Any:
    """Return the serializer of a page whose results are described by `item`."""
    return inline_serializer(
        name=f"{item.__name__.removesuffix('Serializer')}Page",
        fields={
            "count": Whole(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": item(many=True),
        },
    )


def problems(*codes: int) -> dict[Any, Any]:
    """Return the descriptions of error responses by status code and media type."""
    meanings = {
        400: "The request is not valid; every fault is listed.", 401: "The token is not valid.",
        403: "The caller may not do this, or a browser's request has no CSRF token.",
        404: "It does not exist, or the caller may not see it.",
        409: "The present state does not allow it; `detail` says why.", 412: "Another version of the protocol.",
        413: "The body is too large.",
        415: "The body is not application/json.",
        429: "The caller has reached its limit of searches in a minute; `Retry-After` says when to ask again.",
        460: "The piece was damaged on its way.", 507: "The disk has no room.",
        503: "A service does not answer, or too many searches wait; the problem says which.",
    }  # fmt: skip
    return {
        (code, "application/problem+json"): OpenApiResponse(ProblemSerializer, description=meanings[code])
        for code in codes
    }
