"""Collections of results: the list, a collection with its notes and its order, its link, and its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from search.domain.errors import InvalidRequest, NotAllowed, NotNow
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
from search.services.collections.edits import text_mark
from search.services.collections.items import move_item, remove_item, restore_item, write_note
from search.views.form import typed_text
from search.views.own_searches import answer_to, page_of, refused
from search.views.parts import wants_json
from search.views.sure import SureLoss, ask_first, is_sure
from search.views.unavailable import not_now, says_what_is_down, status_of

ON_A_PAGE = 50
FORMATS = {"csv": "CSV", "jsonl": "JSON lines", "bib": "BibTeX"}


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed and refused, so that its field has it again: a note on an item, or name and note of the whole."""

    note: str
    item: int = 0
    name: str = ""


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
    return _page(request, own_collection(request, collection_id), own=True)


@require_safe
@never_cache
@says_what_is_down
def shared(request: HttpRequest, key: str) -> HttpResponse:
    """Show a collection to whoever has its link, as far as the reader may see the knowledge bases of its items."""
    return _page(request, collection_of_link(key), own=False)


def _page(
    request: HttpRequest,
    shown: Collection,
    *,
    own: bool,
    fault: str = "",
    status: int = 200,
    typed: Typed | None = None,
) -> HttpResponse:
    items = readable_items(shown, request.user, visitor_of(request)).select_related("knowledge_base")
    page = page_of(request, items, ON_A_PAGE)
    removed = request.GET.get("removed", "")
    undo = shown.items.exclude(removed=None).filter(pk=removed).first() if own and removed.isdecimal() else None
    context = {
        "collection": shown, "page": page, "own": own, "undo": undo, "fault": fault, "typed": typed,
        "hidden": shown.items.filter(removed=None).count() - page.paginator.count if own else 0,
        "link": request.build_absolute_uri(reverse("collection-shared", args=[shown.key])) if shown.key else "",
        "files": [(name, _file(shown, kind, own)) for kind, name in FORMATS.items()],
    }  # fmt: skip
    return render(request, "search/collection.html", context, status=status)


@require_POST
@says_what_is_down
def change_collection(request: HttpRequest, collection_id: UUID) -> HttpResponse:
    """Rename, share, make private or delete a collection of the caller, as the pressed button says (`do`)."""
    found, visitor = own_collection(request, collection_id), visitor_of(request)
    action = request.POST.get("do", "")
    try:
        if action == "delete":
            if not is_sure(request):
                return ask_first(request, _loss(found), reverse("collection", args=[found.pk]))
            found.delete()
            return redirect("collections")
        if action in ("share", "hide"):
            share_collection(found, action == "share")
        else:
            name, note = request.POST.get("name", ""), typed_text(request.POST.get("note", ""))
            seen = request.POST.get("seen", "")
            rename_collection(found, name=name, note=note, user=request.user, visitor=visitor, seen=seen)
    except InvalidRequest as error:
        sentence = " ".join(fault.sentence for fault in error.faults)
        typed = Typed(note=typed_text(request.POST.get("note", "")), name=request.POST.get("name", ""))
        return _page(request, own_collection(request, collection_id), own=True, fault=sentence, status=400, typed=typed)
    except (NotNow, NotAllowed) as error:
        return refused(request, error)
    return redirect("collection", found.pk)


@require_POST
@says_what_is_down
def change_item(request: HttpRequest, collection_id: UUID, entry_id: int) -> HttpResponse:
    """Remove, put back, move or annotate an item, as the pressed button says (`do`)."""
    found = own_collection(request, collection_id)
    visitor = visitor_of(request)
    item = readable_items(found, request.user, visitor).filter(pk=entry_id).first() or _removed(found, entry_id)
    if item is None:
        raise Http404("This collection has no such result any more; it was removed meanwhile.")
    action, place = request.POST.get("do", ""), f"#item-{item.pk}"
    try:
        _change(request, item, action)
    except InvalidRequest as error:
        item.refresh_from_db()
        sentence = " ".join(fault.sentence for fault in error.faults)
        if wants_json(request):
            # Whoever presses again has read what is there now.
            return JsonResponse({"fault": sentence, "seen": text_mark(item.note)}, status=400)
        typed = Typed(note=typed_text(request.POST.get("note", "")), item=item.pk)
        return _page(request, found, own=True, fault=sentence, status=400, typed=typed)
    except (NotNow, NotAllowed) as error:
        return refused(request, error)
    query = f"?removed={item.pk}#undo" if action == "remove" else place
    page = request.POST.get("page", "")
    if page.isdecimal() and page != "1":
        query = query.replace("?", f"?page={page}&") if query.startswith("?") else f"?page={page}{query}"
    told = {"done": action, "seen": text_mark(item.note)}
    return answer_to(request, told, reverse("collection", args=[found.pk]) + query)


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
    seen = request.POST.get("seen", "")
    write_note(
        item, typed_text(request.POST.get("note", "")), user=request.user, visitor=visitor_of(request), seen=seen
    )


def _loss(collection: Collection) -> SureLoss:
    """Return what the deletion of a collection would lose."""
    items = collection.items.filter(removed=None)
    results, notes = items.count(), items.exclude(note="").count()
    said = f"{results:,} result{'' if results == 1 else 's'}"
    said += f" and {notes:,} note{'' if notes == 1 else 's'}" if notes else ""
    link = " Its link ends, too." if collection.key else ""
    sentence = f"{said} go with it, for good.{link}" if results else f"It is empty.{link}"
    return SureLoss(f"Delete the collection “{collection.name}”?", sentence, "Delete it")


def _removed(found: Collection, item_id: int) -> CollectionItem | None:
    return found.items.exclude(removed=None).filter(pk=item_id).first()


def _file(shown: Collection, kind: str, own: bool) -> str:
    if own:
        return reverse("collection-export", args=[shown.pk, kind])
    return reverse("collection-shared-export", args=[shown.key, kind])


def own_collection(request: HttpRequest, collection_id: UUID | None) -> Collection:
    """Return a collection of the caller; raises Http404 for those of others."""
    found = find_own(collection_id, request.user, visitor_of(request)) if collection_id is not None else None
    if found is None:
        raise Http404(
            "You have no collection with this address; it may have been deleted. "
            "A collection of somebody else is read by its link."
        )
    return found


def collection_of_link(key: str) -> Collection:
    """Return the collection that is shared by this key; raises Http404 if none is."""
    found = shared_collection(key)
    if found is None:
        raise Http404("No collection is shared by this link; its owner may have made it private again.")
    return found
