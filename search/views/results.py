"""The page of one search: its progress while it runs, then its results and the reasons for them."""

from __future__ import annotations

from time import perf_counter
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from search.domain.errors import NotAllowed
from search.domain.question import LONGEST_QUESTION
from search.models import Feedback, SearchRun
from search.services.access.visitor_cookie import visitor_of
from search.services.access.visitors import may_cancel
from search.services.feedback.give_feedback import own_feedback
from search.services.searches.cancel_search import cancel_search
from search.services.searches.facets import FACETS_SECONDS, FEWEST_ANSWERS, facets_of
from search.services.searches.plan_answers import ANSWERS_SECONDS, plan_answers
from search.services.searches.reword import may_reword
from search.services.searches.watch_search import ENDED, await_change, glance
from search.views.collect import collected
from search.views.finding import find_run
from search.views.form import askable, asked_box
from search.views.own_searches import starred
from search.views.shown.facets import ShownFacets, show_facets
from search.views.shown.search import ShownSearch, relations_of, show_run
from search.views.unavailable import says_what_is_down

NARROW = "narrow"
"""Parameter with which the page waits for the facets: the link of a page without script."""
OTHER_BASES = 6
"""Most other knowledge bases of which a question that names nothing here can be asked by one button."""
PROMPT_SECONDS = 0.15
"""Longest time in seconds for which the results wait for their facets."""
ONE_RENDER_SECONDS = 0.15
"""Longest time in seconds for which a page waits for its search to end. Most do, and then no second request, no part of
the page and no pause of its script is needed to show the results."""
LONGEST_HELD = 10.0
"""Longest time that a request for changes is held open, in seconds."""


@require_safe
@never_cache
@says_what_is_down
def results(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the present state of a search at its shareable URL."""
    run = find_run(request, run_id, stored=True)
    if run.status not in ENDED:
        now = await_change(run_id, ONE_RENDER_SECONDS, lambda seen: seen.ended or bool(seen.waiting))
        run = find_run(request, run_id, stored=True) if now.ended else run
    return results_page(request, run)


@require_safe
@never_cache
@says_what_is_down
def facets(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Return the facets of a search alone, for a page whose results did not wait for them."""
    run = find_run(request, run_id)
    search = show_run(run)
    found = None if _few(search) else show_facets(facets_of(plan_answers(run), run), relations_of(run))
    return render(request, "search/_facets.html", {"search": search, "facets": found or ShownFacets()})


def results_page(
    request: HttpRequest,
    run: SearchRun,
    *,
    fault: str = "",
    typed: str = "",
    follow_fault: str = "",
    follow_typed: str = "",
    status: int = 200,
) -> HttpResponse:
    """Return the page of a search; `fault` says why feedback was refused, `typed` is the node that it named.

    `follow_fault` says why the words `follow_typed` could not be asked as a follow-up.
    """
    box = asked_box(request, run)
    context = _context(request, run) | {"box": box, "feedback_fault": fault, "feedback_typed": typed}
    context |= {"follow_fault": follow_fault, "follow_typed": follow_typed}
    return render(request, "search/results.html", context, status=status)


@require_safe
@never_cache
@says_what_is_down
def live(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Return the part of the page that changes, or 204 while nothing has changed since the mark in `seen`.

    With `wait` the request is held open until something changes, for at most that many seconds and at most 10.
    """
    try:
        now = glance(run_id, SearchRun.objects.visible_to(request.user))
    except SearchRun.DoesNotExist:
        raise Http404("There is no search with this address.") from None
    known = request.GET.get("seen")
    if now.mark == known and not now.ended and (held := held_seconds(request)):
        now = await_change(run_id, held, lambda seen: seen.mark != known or seen.ended)
    if now.mark == known and not now.ended:
        return HttpResponse(status=204)
    return render(request, "search/_live.html", _context(request, find_run(request, run_id, stored=True)))


def _readable(request: HttpRequest, run: SearchRun) -> set[str]:
    """Return the ids of the earlier searches of a thread that still exist and that the caller may read."""
    ids = [one["id"] for one in (run.followed or {}).get("thread", ())]
    found = SearchRun.objects.visible_to(request.user).filter(pk__in=ids) if ids else SearchRun.objects.none()
    return {str(pk) for pk in found.values_list("pk", flat=True)}


def _context(request: HttpRequest, run: SearchRun) -> dict[str, Any]:
    """Return the values of the changing part of the page: the search, and the caller's judgments of its results."""
    search = show_run(run)
    given = [] if search.pending else list(own_feedback(run, request.user, visitor_of(request)))
    return {
        "search": search,
        "longest": LONGEST_QUESTION,
        "thread_known": _readable(request, run),
        "may_cancel": _may_cancel(request, run),
        "changeable": not search.pending and run.release is not None,
        "marks": {one.node_id: one.kind for one in given},
        "missing": [one for one in given if one.kind == Feedback.Kind.MISSING],
        "facets": _facets(run, search, ANSWERS_SECONDS + FACETS_SECONDS if NARROW in request.GET else PROMPT_SECONDS),
        "others": askable(request).exclude(name=run.knowledge_base_name)[:OTHER_BASES] if search.nearest_only else (),
        "may_reword": search.answer is not None and search.answer.written is not None and _may_reword(search),
        "starred": not search.pending and starred(request, run),
        "collected": collected(request, run.knowledge_base_name, [result.id for result in search.results]),
    }


def _may_reword(search: ShownSearch) -> bool:
    """Whether a language model may say the answer in other words; who gets only what is stored asks none."""
    return not search.only_stored and may_reword()


def _facets(run: SearchRun, search: ShownSearch, seconds: float) -> ShownFacets | None:
    """Return the facets of a finished search, None where there is too little to narrow down.

    They come with the results if they are found within `seconds`; otherwise the page asks for them by itself.
    """
    if search.only_stored or _few(search):
        return None
    began = perf_counter()
    answers = plan_answers(run, min(seconds, ANSWERS_SECONDS))
    left = seconds - (perf_counter() - began)
    if answers.reason or left <= 0:
        return ShownFacets(awaited=True)
    found = facets_of(answers, run, min(left, FACETS_SECONDS))
    return (
        show_facets(found, relations_of(run)) if found.complete or left > FACETS_SECONDS else ShownFacets(awaited=True)
    )


def _few(search: ShownSearch) -> bool:
    return search.pending or search.answer is None or search.answer.count < FEWEST_ANSWERS


def held_seconds(request: HttpRequest) -> float:
    """Return how long a request for changes may be held open, by its parameter `wait`; at most `LONGEST_HELD`."""
    given = request.GET.get("wait", "")
    return min(LONGEST_HELD, float(given)) if given.isascii() and given.isdigit() and len(given) < 4 else 0.0


@require_POST
@says_what_is_down
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask the search to stop and redirect to its page; raises PermissionDenied if the user may not stop it."""
    try:
        cancel_search(find_run(request, run_id, stored=True), user=request.user, visitor=visitor_of(request))
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    return redirect("search-results", run_id)


def _may_cancel(request: HttpRequest, run: SearchRun) -> bool:
    return may_cancel(run, request.user, visitor_of(request))
