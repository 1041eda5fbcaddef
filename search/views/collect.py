"""Putting a result or an entity into a collection: a page that asks into which one, and the putting."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from search.domain.errors import Fault, InvalidRequest, NotAllowed, NotNow
from search.models import Collection, CollectionItem, KnowledgeBase, SearchRun
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.access.visitors import Visitor, person_columns
from search.services.collections.collections import find_own, make_collection, own_collections
from search.services.collections.items import add_item
from search.views.finding import find_knowledge_base, find_run
from search.views.form import typed_text
from search.views.own_searches import answer_to, refused
from search.views.parts import wants_json
from search.views.unavailable import says_what_is_down

FIRST_NAME = "My results"
"""Name that is offered to somebody who has no collection yet."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@says_what_is_down
def collect(request: HttpRequest) -> HttpResponse:
    """Show the collections from which to choose; on POST put the node into the chosen or a new one.

    `kb` and `node` name the node, `search` the search that found it. `collection` is the id of a collection of the
    caller; `name` makes a new one.
    """
    given = request.POST if request.method == "POST" else request.GET
    base = find_knowledge_base(request, given.get("kb", ""))
    run = find_run(request, _id(given["search"])) if given.get("search") else None
    if run is not None and run.knowledge_base_id != base.pk:
        raise Http404("This search is of another knowledge base.")
    if request.method != "POST":
        return _choice(request, base, run, given.get("node", ""))
    visitor = asking_visitor(request)
    try:
        found, item, new = _put(request, base, run, given.get("node", ""), visitor)
        address = f"{reverse('collection', args=[found.pk])}#item-{item.pk}"
        told = {"collection": found.name, "address": address, "new": new}
        answer = answer_to(request, told | {"node": item.node_id}, address)
    except InvalidRequest as error:
        if wants_json(request):
            answer = refused(request, error)
        else:
            answer = _choice(request, base, run, given.get("node", ""), [one.sentence for one in error.faults])
    except (NotAllowed, NotNow) as error:
        answer = refused(request, error)
    keep_visitor(request, answer, visitor)
    return answer


def collected(request: HttpRequest, knowledge_base: str, nodes: Sequence[str]) -> dict[str, str]:
    """Return the collection of the caller that each of these nodes is in, by the node's id."""
    person = person_columns(request.user, visitor_of(request))
    if not person or not nodes:
        return {}
    mine = CollectionItem.objects.filter(
        collection__in=Collection.objects.filter(**person).values("pk"), knowledge_base_name=knowledge_base,
        node_id__in=nodes, removed=None,
    )  # fmt: skip
    return dict(mine.values_list("node_id", "collection__name"))


def _put(
    request: HttpRequest, base: KnowledgeBase, run: SearchRun | None, node: str, visitor: Visitor
) -> tuple[Collection, CollectionItem, bool]:
    given = request.POST
    found = None
    if chosen := given.get("collection", ""):
        found = find_own(_id(chosen), request.user, visitor)
        if found is None:
            raise InvalidRequest([Fault("/collection", "You have no such collection; it may have been deleted.")])
    elif not given.get("name", "").strip():
        raise InvalidRequest([Fault("/name", "Choose a collection, or name a new one.")])
    found = found or make_collection(name=given["name"], user=request.user, visitor=visitor)
    note = typed_text(given.get("note", ""))
    item, new = add_item(found, base=base, node=node, run=run, note=note, user=request.user, visitor=visitor)
    return found, item, new


def _choice(
    request: HttpRequest, base: KnowledgeBase, run: SearchRun | None, node: str, faults: Sequence[str] = ()
) -> HttpResponse:
    own = own_collections(request.user, visitor_of(request))
    context = {
        "base": base, "run": run, "node": node, "own": own[:100], "faults": faults,
        "first": "" if own else FIRST_NAME, "name": request.GET.get("label", "")[:200] or node,
    }  # fmt: skip
    part = request.headers.get("X-Part") == "choice"
    page = "search/_collect.html" if part else "search/collect.html"
    return render(request, page, context, status=400 if faults else 200)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404("This address names nothing.") from None
