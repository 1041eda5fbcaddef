"""The page of one entity: its fields, and its relations with counts."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from search.services.knowledge.describe_node import describe_node
from search.views.finding import find_knowledge_base
from search.views.form import question_box
from search.views.unavailable import says_what_is_down


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
    context = {"base": base, "node": node, "box": box, "link": link, "by_id": not node_id}
    return render(request, "search/entity.html", context)
