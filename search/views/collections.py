"""Collections of results: the list, a collection with its notes and its order, its link, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import UUID

import orjson
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from search.domain.errors import InvalidRequest, NotAllowed, NotNow
from search.downloads import csv_answer
from search.models import Collection, CollectionItem
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.collections.collections import (
    find_own,
    make_collection,
    own_collections,
    readable_items,
    rename_collection,
    share_collection,
    shared_collection,
)
from search.services.collections.export_collection import bibliography_of, objects_of, rows_of
from search.services.collections.items import move_item, remove_item, restore_item, write_note
from search.views.own_searches import answer_to, page_of, refused, wants_json
from search.views.unavailable import not_now, says_what_is_down, status_of

ON_A_PAGE = 50
FORMATS = {"csv": "CSV", "jsonl": "JSON lines", "bib": "BibTeX"}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@says_what_is_down
def collections(request: HttpRequest) -> HttpResponse:
    """Show the caller's collections; on POST make one with the given name, and show it."""
    if request.method != "POST":
        return _list(request)
    visitor = asking_visitor(request)
    try:
        made = make_collection(name=request.POST.get("name", ""), user=request.user, visitor=visitor)
    except InvalidRequest as error:
        return _list(request, " ".join(fault.sentence for fault in error.faults), 400)
    except NotNow as error:
        return not_now(_list(request, error.reason, status_of(error)), error)
    answer = redirect("collection", made.pk)
    keep_visitor(request, answer, visitor)
    return answer


def _list(request: HttpRequest, fault: str = "", status: int = 200) -> HttpResponse:
    own = own_collections(request.user, visitor_of(request))
    context = {"page": page_of(request, own), "fault": fault, "typed": request.POST.get("name", "")}
    return render(request, "search/collections.html", context, status=status)


@require_safe
@never_cache
@says_what_is_down
def collection(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    """Show a collection of the caller."""
    return _page(request, _own(request, collection_id), own=True)


@require_safe
@never_cache
@says_what_is_down
def shared(request: HttpRequest, key: str) -> HttpResponse:
    """Show a collection to whoever has its link, as far as the reader may see the knowledge bases of its items."""
    return _page(request, _shared(key), own=False)


def _page(request: HttpRequest, shown: Collection, *, own: bool, fault: str = "", status: int = 200) -> HttpResponse:
    items = readable_items(shown, request.user).select_related("knowledge_base")
    page = page_of(request, items, ON_A_PAGE)
    removed = request.GET.get("removed", "")
    undo = shown.items.exclude(removed=None).filter(pk=removed).first() if own and removed.isdecimal() else None
    context = {
        "collection": shown, "page": page, "own": own, "undo": undo, "fault": fault,
        "hidden": shown.items.filter(removed=None).count() - page.paginator.count if own else 0,
        "link": request.build_absolute_uri(reverse("collection-shared", args=[shown.key])) if shown.key else "",
        "files": [(name, _file(shown, kind, own)) for kind, name in FORMATS.items()],
    }  # fmt: skip
    return render(request, "search/collection.html", context, status=status)


@require_POST
@says_what_is_down
def change_collection(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    """Rename, share, make private or delete a collection of the caller, as the pressed button says (`do`)."""
    found, visitor = _own(request, collection_id), visitor_of(request)
    action = request.POST.get("do", "")
    try:
        if action == "delete":
            found.delete()
            return redirect("collections")
        if action in ("share", "hide"):
            share_collection(found, action == "share")
        else:
            note = request.POST.get("note", "").replace("\r\n", "\n")
            rename_collection(found, name=request.POST.get("name", ""), note=note, user=request.user, visitor=visitor)
    except InvalidRequest as error:
        sentence = " ".join(fault.sentence for fault in error.faults)
        return _page(request, _own(request, collection_id), own=True, fault=sentence, status=400)
    except (NotNow, NotAllowed) as error:
        return refused(request, error)
    return redirect("collection", found.pk)


@require_POST
@says_what_is_down
def change_item(request: HttpRequest, collection_id: UUID, entry_id: int) -> HttpResponse:
    """Remove, put back, move or annotate an item, as the pressed button says (`do`)."""
    found = _own(request, collection_id)
    item = readable_items(found, request.user).filter(pk=entry_id).first() or _removed(found, entry_id)
    if item is None:
        raise Http404("This collection has no such result.")
    action, place = request.POST.get("do", ""), f"#item-{item.pk}"
    try:
        _change(request, item, action)
    except InvalidRequest as error:
        if wants_json(request):
            return refused(request, error)
        sentence = " ".join(fault.sentence for fault in error.faults)
        return _page(request, found, own=True, fault=sentence, status=400)
    except (NotNow, NotAllowed) as error:
        return refused(request, error)
    query = f"?removed={item.pk}#undo" if action == "remove" else place
    page = request.POST.get("page", "")
    if page.isdecimal() and page != "1":
        query = query.replace("?", f"?page={page}&") if query.startswith("?") else f"?page={page}{query}"
    return answer_to(request, {"done": action}, reverse("collection", args=[found.pk]) + query)


def _change(request: HttpRequest, item: CollectionItem, action: str) -> None:
    order = list(item.collection.items.filter(removed=None).values_list("pk", flat=True))
    at = order.index(item.pk) + 1 if item.pk in order else 1
    moves: dict[str, Callable[[], None]] = {
        "remove": lambda: remove_item(item),
        "restore": lambda: restore_item(item),
        "first": lambda: move_item(item, 1),
        "up": lambda: move_item(item, at - 1),
        "down": lambda: move_item(item, at + 1),
    }
    if action in moves:
        moves[action]()
        return
    note = request.POST.get("note", "").replace("\r\n", "\n")
    write_note(item, note, user=request.user, visitor=visitor_of(request))


def _removed(found: Collection, item_id: int) -> CollectionItem | None:
    return found.items.exclude(removed=None).filter(pk=item_id).first()


@require_safe
@never_cache
@says_what_is_down
def export(request: HttpRequest, kind: str, collection_id: UUID | None = None, key: str = "") -> Any:
    """Return a collection as a file: `csv`, `jsonl` or `bib`, with the items that the reader may see."""
    found = _own(request, collection_id) if collection_id is not None else _shared(key)
    items = readable_items(found, request.user).select_related("knowledge_base__active_release__snapshot")
    name = f"collection-{str(found.pk)[:8]}.{kind}"
    if kind == "csv":
        return csv_answer(request, rows_of(items), name)
    if kind == "jsonl":
        return _file_answer(
            request, (orjson.dumps(one) + b"\n" for one in objects_of(items)), "application/jsonl", name
        )
    if kind == "bib":
        return _file_answer(request, _bibtex(items, found.name), "application/x-bibtex; charset=utf-8", name)
    raise Http404(f"A collection is exported as one of: {', '.join(FORMATS)}.")


def _bibtex(items: Iterable[CollectionItem], title: str) -> Iterator[str]:
    yield from bibliography_of(items).write(title)


def _file_answer(request: HttpRequest, parts: Iterable[bytes | str], media: str, name: str) -> Any:
    answer = StreamingHttpResponse(parts, content_type=media)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return HttpResponse(headers=dict(answer.items())) if request.method == "HEAD" else answer


def _file(shown: Collection, kind: str, own: bool) -> str:
    if own:
        return reverse("collection-export", args=[shown.pk, kind])
    return reverse("collection-shared-export", args=[shown.key, kind])


def _own(request: HttpRequest, collection_id: UUID | None) -> Collection:
    found = find_own(collection_id, request.user, visitor_of(request)) if collection_id is not None else None
    if found is None:
        raise Http404("You have no collection with this address. A collection of somebody else is read by its link.")
    return found


def _shared(key: str) -> Collection:
    found = shared_collection(key)
    if found is None:
        raise Http404("No collection is shared by this link; its owner may have made it private again.")
    return found
