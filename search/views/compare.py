"""The page that compares two to four pipelines on one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from search import wiring
from search.domain.errors import InvalidRequest, NotNow
from search.models import SearchRun
from search.services.access.visible import searches_for
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.searches.ask_comparison import ask_comparison, asked_before, pipeline_faults
from search.services.searches.check_request import SearchRejected
from search.services.searches.compare_searches import MOST, check_comparable
from search.services.searches.watch_search import Glance, await_changes, glance
from search.views.finding import RELATED
from search.views.form import by_field, question_box, typed_text
from search.views.results import held_seconds
from search.views.shown.comparison import show_comparison
from search.views.unavailable import not_now, says_what_is_down, status_of


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@says_what_is_down
def compare(request: HttpRequest) -> HttpResponse:
    """Show a comparison, or the form that asks for one; on POST ask, and redirect to the comparison.

    `search` (twice to four times) names the searches: that address shows the same to everybody who may read them.
    `kb`, `q` and `pipeline` fill the form; if the same person has asked all of it already, those searches are shown. On
    GET nothing is asked, because browsers, crawlers and link previews open URLs on their own.
    """
    if request.method == "POST":
        return _ask(request)
    given = request.GET.getlist("search")
    runs, missing = _runs(request, given)
    if missing and not runs:
        raise Http404(_absent(missing))
    if len(runs) > 1:
        try:
            check_comparable(runs)
        except InvalidRequest as error:
            return _form(request, {}, 400, {"": [fault.sentence for fault in error.faults]})
        return _page(request, runs, missing)
    values = _values(request.GET)
    if runs:
        [run] = runs
        values = {"kb": run.knowledge_base_name, "q": run.question, "pipeline": [run.pipeline]} | {
            key: value for key, value in values.items() if value
        }
        return _form(request, _with_second(values), 200, missing=missing)
    if len(values["pipeline"]) > 1 and values["q"] and not pipeline_faults(values["pipeline"]):
        known = asked_before(values["kb"], values["q"], values["pipeline"], request.user, visitor_of(request))
        if len(known) == len(values["pipeline"]):
            return redirect(address([known[name] for name in values["pipeline"]]))
    return _form(request, _with_second(values), 200)


@require_safe
@never_cache
@says_what_is_down
def compare_live(request: HttpRequest) -> HttpResponse:
    """Return the part of the page that changes, or 204 while nothing has changed since the mark in `seen`.

    With `wait` the request is held open until a column changes, for at most that many seconds and at most 10.
    """
    runs, missing = _runs(request, request.GET.getlist("search"))
    if missing:
        raise Http404(_absent(missing))
    try:
        check_comparable(runs)
    except InvalidRequest as error:
        raise Http404(" ".join(fault.sentence for fault in error.faults)) from None
    known, ids = request.GET.get("seen"), [run.pk for run in runs]

    def changed(seen: list[Glance]) -> bool:
        return "_".join(one.mark for one in seen) != known or all(one.ended for one in seen)

    held = held_seconds(request)
    seen = await_changes(ids, held, changed) if held else [glance(one) for one in ids]
    if not changed(seen):
        return HttpResponse(status=204)
    return render(request, "search/_compared.html", _context(_runs(request, map(str, ids))[0]))


def _with_second(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the form with a second pipeline where one is chosen: a comparison takes two.

    The second is the pipeline with the fewest stages, as the baseline, or the site's default one.
    """
    chosen = values["pipeline"]
    simplest = min(wiring.pipelines(), key=lambda name: len(wiring.row(name)["STAGES"]))
    beside = [name for name in (simplest, settings.GRASP_DEFAULT_PIPELINE) if name not in chosen]
    return values | {"pipeline": [*chosen, *beside[:1]]} if len(chosen) == 1 else values


def address(runs: Sequence[SearchRun]) -> str:
    """Return the address of the comparison of these searches."""
    return f"{reverse('search-compare')}?{urlencode([('search', str(run.pk)) for run in runs])}"


def _ask(request: HttpRequest) -> HttpResponse:
    """Ask every pipeline and return a redirect to the comparison; on faults the form, with what was typed."""
    values, visitor = _values(request.POST), asking_visitor(request)
    if "choose" in request.POST:
        # The box of another page: its values fill the form here, and the token of its form stays out of the address.
        return redirect(f"{reverse('search-compare')}?{urlencode(values, doseq=True)}")
    try:
        runs = ask_comparison(
            knowledge_base=values["kb"], question=values["q"], pipelines=values["pipeline"], user=request.user,
            visitor=visitor,
        )  # fmt: skip
    except SearchRejected as error:
        return _form(request, values, 400, by_field(error.faults))
    except NotNow as error:
        page = _form(request, values, status_of(error), {"": [error.reason]})
        keep_visitor(request, page, visitor)
        return not_now(page, error)
    answer = redirect(address(runs))
    keep_visitor(request, answer, visitor)
    return answer


def _values(given: Any) -> dict[str, Any]:
    """Return the values of the form; a pipeline list is cut where no request can be valid any more."""
    return {"kb": given.get("kb", ""), "q": typed_text(given.get("q", "")), "pipeline": given.getlist("pipeline")[:20]}


def _runs(request: HttpRequest, ids: Any) -> tuple[list[SearchRun], int]:
    """Return the searches in the order of their ids, and how many others do not exist or may not be read.

    Raises Http404 for what is no id.
    """
    wanted = list(ids)[: MOST + 1]
    try:
        keys = [UUID(one) for one in wanted]
    except ValueError:
        raise Http404("An address of a comparison names its searches by their ids.") from None
    found = searches_for(keys, request.user, RELATED)
    return [found[key] for key in keys if key in found], sum(key not in found for key in keys)


def _absent(missing: int) -> str:
    """Return a sentence about searches that the address names in vain; empty if there are none."""
    if not missing:
        return ""
    what, them = ("One search", "it") if missing == 1 else (f"{missing} searches", "them")
    verb = "was" if missing == 1 else "were"
    return f"{what} of this comparison {verb} deleted, or you may not read {them}."


def _form(
    request: HttpRequest,
    values: Mapping[str, Any],
    status: int,
    faults: dict[str, list[str]] | None = None,
    *,
    missing: int = 0,
) -> HttpResponse:
    box = question_box(request, knowledge_base=values.get("kb", ""), question=values.get("q", ""), faults=faults or {})
    context = {"box": box, "chosen": values.get("pipeline", []), "comparison": None, "absent": _absent(missing)}
    return render(request, "search/compare.html", context, status=status)


def _page(request: HttpRequest, runs: Sequence[SearchRun], missing: int) -> HttpResponse:
    box = question_box(request, knowledge_base=runs[0].knowledge_base_name, question=runs[0].question)
    context = _context(runs) | {"box": box, "chosen": [run.pipeline for run in runs], "absent": _absent(missing)}
    return render(request, "search/compare.html", context)


def _context(runs: Sequence[SearchRun]) -> dict[str, Any]:
    searches = urlencode([("search", str(run.pk)) for run in runs])
    return {"comparison": show_comparison(runs), "searches": searches}
