"""The page of one entity: its fields, its relations with counts, where it comes from, and what is like it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from search.domain.graph import ANY, Schema
from search.models import Release
from search.plan_words import Relations
from search.sentences.values import amount_words, measured, type_words
from search.services.knowledge.alike_nodes import alike_nodes
from search.services.knowledge.describe_node import describe_node
from search.views.finding import find_knowledge_base
from search.views.form import question_box
from search.views.unavailable import says_what_is_down

MANY_GROUPS = 4
"""From this number of groups on, the page begins with a list of them."""


@require_safe
@says_what_is_down
def entity(request: HttpRequest, name: str, node_id: str = "") -> HttpResponse:
    """Show a node of the active release, named by the path or by `id` in the query.

    `relation`, `direction` and `page` in the query turn the pages of one group of relations.
    """
    base = find_knowledge_base(request, name)
    if base.active_release is None:
        raise Http404(f"“{name}” has no active release.")
    turned = (request.GET.get("relation", ""), request.GET.get("direction", ""))
    page = request.GET.get("page", "1")
    number = int(page) if page.isdecimal() and len(page) < 7 else 1
    node = describe_node(base.active_release, node_id or request.GET.get("id", ""), turned, number)
    if node is None:
        raise Http404("There is no such entity in this knowledge base.")
    box = question_box(request, knowledge_base=name)
    link = node["url"] if node["url"].startswith(("https://", "http://")) else ""
    schema = base.active_release.snapshot.schema
    groups = [group | _from_here(group, node, schema) for group in node["relations"]]
    for item in (item for group in groups for item in group["items"]):
        item["said"] = [measured(name, value, schema.wordings) for name, value in item["properties"].items()]
    context = {
        "base": base, "node": node, "fields": show_fields(node["fields"], schema.wordings), "box": box,
        "link": link, "by_id": not node_id, "groups": groups,
        "many": len(groups) >= MANY_GROUPS, "origin": _origin(base.active_release),
        "edges": sum(group["count"] for group in groups), "edges_more": any(group["more"] for group in groups),
    }  # fmt: skip
    return render(request, "search/entity.html", context)


@require_safe
@says_what_is_down
def alike(request: HttpRequest, name: str) -> HttpResponse:
    """Show what is like the node with the id `id`; the page of the node fetches this part once it is shown."""
    base = find_knowledge_base(request, name)
    if base.active_release is None:
        raise Http404(f"“{name}” has no active release.")
    node_id = request.GET.get("id", "")
    node = describe_node(base.active_release, node_id, related=False)
    found = alike_nodes(base.active_release, node_id) if node is not None else None
    if node is None or found is None:
        raise Http404("There is no such entity in this knowledge base.")
    return render(request, "search/alike.html", {"base": base, "node": node, "found": found})


def show_fields(fields: Iterable[Mapping[str, Any]], relations: Relations) -> list[dict[str, Any]]:
    """Return fields as the page shows them: each with its name in words and its values with their unit."""
    return [
        {
            "kind": field["kind"], "title": amount_words(field["name"], None)[0],
            "values": [
                amount_words(field["name"], one, relations)[1]
                for one in (field["value"] if isinstance(field["value"], list) else [field["value"]])
            ],
        }
        for field in fields
    ]  # fmt: skip


def _from_here(group: dict[str, Any], node: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Return what asks for a group's nodes with this node as the anchor: a question in words, and its plan."""
    out = group["direction"] == "out"
    ends = [
        kind.target if out else kind.source
        for kind in schema.relation_types
        if kind.relation == group["relation"] and node["type"] == (kind.source if out else kind.target)
    ]
    types = list(dict.fromkeys(ends))
    label = types[0] if len(types) == 1 else ANY
    anchor = {"var": "A1", "text": node["name"], "label": node["type"], "match_mode": "name", "ids": [node["id"]]}
    hop = {"from": "A1", "rel": group["relation"], "to_var": "T", "to_label": label, "direction": group["direction"]}
    plan = {
        "anchors": [anchor],
        "hops": [hop],
        "target": {"var": "T", "labels": types, "relevance_text": ""},
        "filters": [],
        "risk_level": "normal",
    }  # fmt: skip
    kinds = " or ".join(type_words(kind) for kind in types)
    question = f"{kinds}: {group['wording']}, {node['name']}"
    return {
        "far": kinds,
        "one_type": len(types) == 1,
        "question": question[:1000],
        "plan": json.dumps(plan, ensure_ascii=False),
    }


def _origin(release: Release) -> dict[str, Any]:
    """Return when and from what the release was imported.

    Of a path or an address only the last part is public: neither folders of this machine, nor host, port and account.
    """
    snapshot = release.snapshot
    source = snapshot.source
    return {
        "number": snapshot.pk,
        "source": PurePath(urlsplit(source).path if "://" in source else source).name,
        "hash": snapshot.content_hash[:12],
        "imported": snapshot.finished or snapshot.created,
        "activated": release.activated,
        "bad_rows": snapshot.bad_rows,
    }
