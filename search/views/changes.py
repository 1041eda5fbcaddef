"""A search asked again, and the page that says what it finds differently."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from search.domain.errors import InvalidRequest, NotNow
from search.models import SearchRun
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.collections.saved_searches import saved_searches
from search.services.searches.compare_searches import check_comparable
from search.services.searches.run_again import run_again
from search.services.searches.watch_search import await_change, glance
from search.services.searches.what_changed import what_changed
from search.views.finding import find_run
from search.views.own_searches import refused
from search.views.results import held_seconds
from search.views.shown.follow_up import PARTS
from search.views.shown.search import show_run
from search.views.unavailable import says_what_is_down


@require_POST
@says_what_is_down
def again(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask the search again and redirect to the page of what changed."""
    run, visitor = find_run(request, run_id), asking_visitor(request)
    try:
        asked = run_again(run, user=request.user, visitor=visitor)
    except (InvalidRequest, NotNow) as error:
        return refused(request, error)
    answer = redirect("search-changes", asked.pk, run.pk)
    keep_visitor(request, answer, visitor)
    return answer


@require_safe
@never_cache
@says_what_is_down
def changes(request: HttpRequest, run_id: UUID, before_id: UUID) -> HttpResponse:
    """Show how a search differs from an earlier one of the same question."""
    return render(request, "search/changes.html", _context(request, run_id, before_id))


@require_safe
@never_cache
@says_what_is_down
def changes_live(request: HttpRequest, run_id: UUID, before_id: UUID) -> HttpResponse:
    """Return the part of the page that changes, or 204 while nothing has changed since the mark in `seen`."""
    find_run(request, run_id, stored=True)
    now, known = glance(run_id), request.GET.get("seen")
    if now.mark == known and not now.ended and (held := held_seconds(request)):
        now = await_change(run_id, held, lambda seen: seen.mark != known or seen.ended)
    if now.mark == known and not now.ended:
        return HttpResponse(status=204)
    return render(request, "search/_changed.html", _context(request, run_id, before_id))


def _context(request: HttpRequest, run_id: UUID, before_id: UUID) -> dict[str, Any]:
    """Return the values of the page. Raises Http404 for searches that cannot be compared or read."""
    before, after = find_run(request, before_id, stored=True), find_run(request, run_id, stored=True)
    try:
        check_comparable([before, after])
    except InvalidRequest as error:
        raise Http404(" ".join(fault.sentence for fault in error.faults)) from None
    changed = what_changed(before, after)
    saved = saved_searches(request.user, visitor_of(request)).filter(run=before).first()
    return {
        "before": before,
        "after": after,
        "search": show_run(after),
        "changed": changed,
        "parts": [part | {"name": PARTS[part["part"]]} for part in changed["plan"]],
        "reasons": [_reason(one) for one in changed["reasons"]],
        "moved": [one for one in changed["results"] if one["kind"] != "same"],
        "failed": [run for run in (before, after) if run.status != SearchRun.Status.DONE],
        "saved": saved,
    }


_KINDS = {
    "release": "Release", "pipeline": "Pipeline", "version": "Pipeline version",
    "settings": "Settings of the knowledge base", "code": "Version of this site",
}  # fmt: skip


def _reason(one: dict[str, str]) -> dict[str, str]:
    name = f"Option {one['option']}" if one["kind"] == "option" else _KINDS[one["kind"]]
    return {"name": name, "before": one["before"] or "–", "after": one["after"] or "–"}
