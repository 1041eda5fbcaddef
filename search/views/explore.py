"""Explore: a part of the graph that grows by relations, as a drawing, as tables, and as files.

The address holds what is shown: where it began (`id`, or `search` and `rank`) and each step (`open`, several times), so
that it can be shared, and undoing is an address without the last step. The same part of the page serves with and
without a script: the script only draws what the part holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.models import KnowledgeBase, Release
from search.sentences.values import type_words
from search.services.knowledge.describe_node import graph_of
from search.services.knowledge.explore import MOST_STEPS, Explored, explore
from search.services.searches.describe_search import outputs_of
from search.views.export import csv_answer
from search.views.finding import find_knowledge_base, find_run
from search.views.unavailable import says_what_is_down

LONGEST = 2_000
"""Most characters of a step in an address."""


@dataclass(frozen=True)
class _Start:
    """Where an exploration begins: a node, and the paths that led to it if it is a result of a search."""

    release: Release
    id: str
    query: tuple[tuple[str, str], ...]
    paths: list[list[dict[str, Any]]] = field(default_factory=list)
    back: tuple[UUID, int] | None = None


@require_safe
@never_cache
@says_what_is_down
def explore_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show the drawing with its tables; Http404 if there is no such node or result."""
    base, start, steps, found = _asked(request, name)
    query = [*start.query, *(("open", step) for step in steps)]
    context = {
        "base": base, "start": start, "found": found, "hidden": query,
        "query": urlencode(query), "begin": urlencode(start.query), "undo": urlencode(query[:-1]) if steps else "",
    }  # fmt: skip
    if found is not None:
        names = [node.name for node in found.nodes]
        context |= {
            "first": next(node for node in found.nodes if node.first),
            "triples": [(names[edge.source], edge.wording, names[edge.target]) for edge in found.edges],
            "drawn": _drawn(found),
        }
    return render(request, "search/explore.html", context)


@require_safe
@never_cache
@says_what_is_down
def explore_file(request: HttpRequest, name: str, kind: str) -> HttpResponseBase:
    """Return what is shown as a table of edges (`csv`), or with the relations that can be opened (`json`)."""
    if kind not in ("csv", "json"):
        raise Http404("What is shown is written as csv or json.")
    base, _, _, found = _asked(request, name)
    if found is None:
        raise Http404("The index files of this knowledge base are not on this machine.")
    if kind == "csv":
        return csv_answer(request, found.rows(), "graph.csv")
    return JsonResponse({"knowledge_base": base.name, **found.to_json()}, json_dumps_params={"ensure_ascii": False})


def _asked(request: HttpRequest, name: str) -> tuple[KnowledgeBase, _Start, list[str], Explored | None]:
    """Return what the address means; nothing is explored where the index files are not on this machine."""
    base = find_knowledge_base(request, name)
    start = _result(request, base) if "search" in request.GET else _entity(request, base)
    steps = [step[:LONGEST] for step in request.GET.getlist("open")[: MOST_STEPS + 1]]
    if graph_of(start.release) is None:
        return base, start, steps, None
    found = explore(start.release, start.id, start.paths, steps)
    if found is None:
        raise Http404("There is no such entity in this knowledge base.")
    return base, start, steps, found


def _entity(request: HttpRequest, base: KnowledgeBase) -> _Start:
    if base.active_release is None:
        raise Http404(f"“{base.name}” has no active release.")
    node_id = request.GET.get("id", "")
    return _Start(base.active_release, node_id, (("id", node_id),))


def _result(request: HttpRequest, base: KnowledgeBase) -> _Start:
    asked = request.GET["search"], request.GET.get("rank", "1")
    try:
        run_id, rank = UUID(asked[0]), int(asked[1])
    except ValueError as fault:
        raise Http404("This address names no result of a search.") from fault
    run = find_run(request, run_id)
    if run.knowledge_base_id != base.pk:
        raise Http404("This search asked another knowledge base.")
    if run.release is None:
        raise Http404("The release that was searched has been deleted, so its graph cannot be explored.")
    results = outputs_of(run.steps.all()).results.entries
    result = next((entry for entry in results if entry.rank == rank), None)
    if result is None:
        raise Http404("This search has no result of that rank.")
    paths = [path.to_json() for path in result.evidence.paths] if result.evidence else []
    return _Start(run.release, result.node.id, (("search", str(run_id)), ("rank", str(rank))), paths, (run_id, rank))


def _drawn(found: Explored) -> dict[str, Any]:
    """Return what the script draws: nodes and edges by position, and the rest of what was opened as groups."""
    groups = [
        {"at": at, "step": str(offer.step), "count": offer.rest, "wording": offer.wording,
         "out": offer.step.direction == "out"}
        for at, node in enumerate(found.nodes)
        for offer in node.offers
        if offer.opened and offer.rest
    ]  # fmt: skip
    return {
        "nodes": [
            {"id": node.id, "type": type_words(node.type), "name": node.name, "first": node.first,
             "column": node.column}
            for node in found.nodes
        ],
        "edges": [
            {"source": edge.source, "target": edge.target, "wording": edge.wording, "mutual": edge.mutual,
             "first": edge.first}
            for edge in found.edges
        ],
        "groups": groups,
    }  # fmt: skip
