"""Knowledge bases: the list, one knowledge base with its schema, and its nodes."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.ids import id_in_path
from search.api.pagination import Pages
from search.api.permissions import ANYBODY
from search.models import KnowledgeBase, Node, Release
from search.services.knowledge.describe_node import describe_node
from search.services.knowledge.find_nodes import find_nodes
from search.services.knowledge.knowledge_bases import describe_knowledge_base

PAGING = [
    OpenApiParameter("page", OpenApiTypes.INT, description="From 1."),
    OpenApiParameter("page_size", OpenApiTypes.INT, description="At most 100; 20 unless given."),
]


class KnowledgeBases(APIView):
    """The knowledge bases that can be searched."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="knowledge_bases_list",
        summary="List the knowledge bases",
        tags=[groups.KNOWLEDGE_BASES],
        parameters=PAGING,
        responses={200: shape.page_of(shape.KnowledgeBaseSerializer), **shape.problems(401, 404, 503)},
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Return a page of the knowledge bases that the caller may see, with their counts."""
        pages = Pages()
        bases = _visible(request).order_by("name")
        shown: list[KnowledgeBase] = pages.paginate_queryset(bases, request, view=self) or []
        return pages.get_paginated_response([describe_knowledge_base(base) for base in shown])


class KnowledgeBaseDetail(APIView):
    """One knowledge base."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="knowledge_bases_retrieve",
        summary="Show one with its schema",
        tags=[groups.KNOWLEDGE_BASES],
        responses={200: shape.KnowledgeBaseSchemaSerializer, **shape.problems(401, 404, 503)},
    )
    def get(self, request: Request, name: str) -> Response:
        """Return one knowledge base with its schema: node types with fields, relations, relation types with counts."""
        return Response(describe_knowledge_base(_find(request, name), schema=True))


class Nodes(APIView):
    """The nodes of a knowledge base, found by the beginning of their name."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="nodes_list",
        summary="Find nodes by their name",
        tags=[groups.KNOWLEDGE_BASES],
        parameters=[
            OpenApiParameter("prefix", OpenApiTypes.STR, description="Beginning of the name, whatever the case."),
            OpenApiParameter("type", OpenApiTypes.STR, description="A node type of the schema."),
            *PAGING,
        ],
        responses={200: shape.page_of(shape.NodeReferenceSerializer), **shape.problems(400, 401, 404, 503)},
    )
    def get(self, request: Request, name: str) -> Response:
        """Return a page of nodes in the order of their names, for completion while somebody types a name."""
        release = find_release(request, name)
        asked = request.query_params
        pages = Pages()
        found = find_nodes(release, asked.get("prefix", ""), asked.get("type", ""))
        shown = pages.paginate_queryset(found, request, view=self) or []
        return pages.get_paginated_response([_reference(node, release) for node in shown])


class NodeDetail(APIView):
    """One node."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="nodes_retrieve",
        summary="Show a node and its neighbours",
        tags=[groups.KNOWLEDGE_BASES],
        parameters=[
            OpenApiParameter("relation", OpenApiTypes.STR, description="Only the neighbours by this relation."),
            OpenApiParameter(
                "direction", OpenApiTypes.STR, enum=["out", "in"], description="The direction of the relation."
            ),
            OpenApiParameter("page", OpenApiTypes.INT, description="Page of these neighbours, from 1; 50 on a page."),
        ],
        responses={200: shape.NodeSerializer, **shape.problems(401, 404, 503)},
    )
    def get(self, request: Request, name: str, node_id: str) -> Response:
        """Return a node with its fields and its relations, grouped and in pages. The id is percent-encoded."""
        asked = request.query_params
        page = asked.get("page", "1")
        turned = (asked.get("relation", ""), asked.get("direction", ""))
        number = int(page) if page.isdecimal() and len(page) < 10 else 1
        node = describe_node(find_release(request, name), id_in_path(request, node_id), turned, number)
        if node is None:
            raise Http404(f"{name} has no node with this id.")
        return Response(node | {"fields": {field["name"]: field["value"] for field in node["fields"]}})


def _visible(request: Request) -> Any:
    return KnowledgeBase.objects.visible_to(request.user).select_related(
        "active_release__snapshot", "active_release__knowledge_base"
    )


def _find(request: Request, name: str) -> KnowledgeBase:
    base = _visible(request).filter(name=name).first() if "\x00" not in name else None
    if base is None:
        raise Http404("There is no such knowledge base.")
    return base


def find_release(request: Request, name: str) -> Release:
    """Return the active release of a knowledge base that the caller may see.

    Raises Http404 when the caller may see no such knowledge base or it has no active release.
    """
    base = _find(request, name)
    if base.active_release is None:
        raise Http404(f"{base.name} has no active release; import it again, or activate one of its releases.")
    return base.active_release


def _reference(node: Node, release: Release) -> dict[str, str]:
    return {"id": node.id, "type": release.snapshot.schema.node_types[node.type].name, "name": node.name}
