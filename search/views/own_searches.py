"""A person's own searches: the list with what is saved, saving, forgetting, and asking again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from search.domain.errors import InvalidRequest, NotAllowed, NotNow
from search.models import SavedSearch, SearchRun
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.collections.edits import text_mark
from search.services.collections.own_searches import forget_search, own_searches
from search.services.collections.saved_searches import (
    News,
    hidden_saved,
    is_saved,
    news_of,
    own_words_of,
    rename_saved,
    replace_base,
    save_search,
    saved_searches,
    unsave_search,
)
from search.views.finding import find_run
from search.views.form import typed_text
from search.views.parts import wants_json
from search.views.sure import SureLoss, ask_first, is_sure
from search.views.unavailable import not_now, says_what_is_down, status_of

ON_A_PAGE = 25


@require_safe
@never_cache
@says_what_is_down
def searches(request: HttpRequest) -> HttpResponse:
    """Show the caller's own searches, newest first; with `saved`, those that the caller has saved.

    `q` and `kb` limit the list, `programs` adds searches through the API, `page` turns the pages.
    """
    return searches_page(request)


def searches_page(
    request: HttpRequest, *, fault: str = "", status: int = 200, typed: SavedSearch | None = None
) -> HttpResponse:
    """Return the list; `fault` says why a change was refused.

    `typed` is a saved search with the refused name and note: it is listed alone, so that nothing has to be typed again.
    """
    asked, visitor = request.GET, visitor_of(request)
    words, base = asked.get("q", "").strip()[:300], asked.get("kb", "")
    saved = asked.get("saved") == "1" or typed is not None
    found: QuerySet[Any]
    if saved:
        found = saved_searches(request.user, visitor, words=words, knowledge_base=base)
    else:
        programs = asked.get("programs") == "1"
        found = own_searches(request.user, visitor, words=words, knowledge_base=base, programs=programs)
    if typed is not None:
        found = found.filter(pk=typed.pk)
    page = page_of(request, found)
    runs = [one.run for one in page] if saved else list(page)
    mine = saved_searches(request.user, visitor).filter(run__in=[run.pk for run in runs])
    kept = {one.run_id: one for one in mine}
    news = news_of([run for run in runs if run.pk in kept], request.user)
    everything = saved_searches(request.user, visitor) if saved else own_searches(request.user, visitor, programs=True)
    column = "run__knowledge_base_name" if saved else "knowledge_base_name"
    context = {
        "entries": [_entry(run, kept.get(run.pk), news.get(run.pk), typed) for run in runs],
        "hidden": hidden_saved(request.user, visitor) if saved else 0,
        "page": page, "saved": saved, "q": words, "kb": base, "programs": asked.get("programs") == "1", "fault": fault,
        "bases": sorted(set(everything.order_by().values_list(column, flat=True))),
    }  # fmt: skip
    return render(request, "search/searches.html", context, status=status)


def _entry(run: SearchRun, saved: SavedSearch | None, news: News | None, typed: SavedSearch | None) -> dict[str, Any]:
    return {
        "run": run, "news": news, "saved": typed if saved and typed else saved, "open": bool(typed),
        "mark": text_mark(saved.name, saved.note) if saved else "", "gone": run.knowledge_base_id is None,
    }  # fmt: skip


def page_of(request: HttpRequest, found: QuerySet[Any], number: int = ON_A_PAGE) -> Page[Any]:
    """Return the page of a list that the query names, or the nearest one."""
    return Paginator(found, number).get_page(request.GET.get("page", "1"))


@require_POST
@says_what_is_down
def save(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Save the search for the caller (`saved` is 1) or remove it from what is saved (0).

    A script that asks for JSON gets the new state or the fault; a browser without scripts is sent back.
    """
    run, visitor = find_run(request, run_id, stored=True), asking_visitor(request)
    wanted = request.POST.get("saved") != "0"
    back = _back(request, reverse("search-results", args=[run.pk]))
    if not wanted and (loss := _loss(request, run, "No longer save")):
        return ask_first(request, loss, back)
    try:
        if wanted:
            save_search(run, user=request.user, visitor=visitor)
        else:
            unsave_search(run, user=request.user, visitor=visitor)
        answer = answer_to(request, {"saved": wanted}, back)
    except (InvalidRequest, NotAllowed, NotNow) as error:
        answer = refused(request, error)
    keep_visitor(request, answer, visitor)
    return answer


@require_POST
@says_what_is_down
def change_saved(request: HttpRequest, saved_id: UUID) -> HttpResponse:
    """Change name and note of a saved search, or with `run` let it stand for a newer search of its question."""
    visitor = visitor_of(request)
    saved = _find_saved(request, saved_id)
    try:
        if "run" in request.POST:
            newer = find_run(request, _uuid(request.POST["run"]), stored=True)
            replace_base(saved, newer, user=request.user, visitor=visitor)
        else:
            name, note = request.POST.get("name", ""), typed_text(request.POST.get("note", ""))
            seen = request.POST.get("seen", "")
            rename_saved(saved, name=name, note=note, user=request.user, visitor=visitor, seen=seen)
    except (InvalidRequest, NotNow) as error:
        if "run" in request.POST:
            return refused(request, error)
        saved.name, saved.note = name, note
        return refused(request, error, typed=saved)
    return redirect(f"{reverse('search-own')}?saved=1#search-{saved.run_id}")


@require_POST
@says_what_is_down
def forget(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Delete a search of the caller, and go back to the list."""
    run = find_run(request, run_id, stored=True)
    if loss := _loss(request, run, "Delete"):
        return ask_first(request, loss, _back(request, reverse("search-own")))
    try:
        forget_search(run, user=request.user, visitor=visitor_of(request))
    except (InvalidRequest, NotAllowed) as error:
        return refused(request, error)
    return redirect(_back(request, reverse("search-own")))


def _loss(request: HttpRequest, run: SearchRun, does: str) -> SureLoss | None:
    """Return what the caller would lose with a saved search: a name or a note; None if nothing, or if they are sure."""
    words = "" if is_sure(request) else own_words_of(run, user=request.user, visitor=visitor_of(request))
    if not words:
        return None
    question = f"{does} “{run.question[:120]}”?"
    return SureLoss(question, f"What you wrote about it goes with it, for good: {words}", does)


def starred(request: HttpRequest, run: SearchRun) -> bool:
    """Whether the caller has saved the search."""
    return is_saved(run, request.user, visitor_of(request))


def answer_to(request: HttpRequest, told: dict[str, Any], address: str) -> HttpResponse:
    """Return what was done: as JSON to a script, otherwise as a redirect to an address."""
    return JsonResponse(told) if wants_json(request) else redirect(address)


def refused(
    request: HttpRequest, error: InvalidRequest | NotAllowed | NotNow, *, typed: SavedSearch | None = None
) -> HttpResponse:
    """Return the reason why a change was refused: as JSON to a script, otherwise on the list of searches."""
    if isinstance(error, InvalidRequest):
        fault, status = " ".join(one.sentence for one in error.faults), 400
    elif isinstance(error, NotNow):
        fault, status = error.reason, status_of(error)
    else:
        fault, status = str(error), 403
    if wants_json(request):
        answer: HttpResponse = JsonResponse({"fault": fault}, status=status)
    else:
        answer = searches_page(request, fault=fault, status=status, typed=typed)
    return not_now(answer, error) if isinstance(error, NotNow) else answer


def _find_saved(request: HttpRequest, saved_id: UUID) -> SavedSearch:
    saved = saved_searches(request.user, visitor_of(request)).filter(pk=saved_id).first()
    if saved is None:
        raise Http404("You have no saved search with this address.")
    return saved


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404("There is no search with this id.") from None


def _back(request: HttpRequest, otherwise: str) -> str:
    """Return the address on this site that the form names in `next`."""
    wanted = request.POST.get("next", "")
    return wanted if wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, None) else otherwise
