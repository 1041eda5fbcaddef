"""The pages of evaluations: the list, the report, the questions by outcome, one question, and downloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from search.domain.errors import InvalidRequest
from search.downloads import export_answer
from search.views.unavailable import says_what_is_down
from training.evaluation.judged import JUDGED_MEASURES
from training.evaluation.lost import Attribution, LostStage
from training.evaluation.measures import MEASURES
from training.evaluation.published import MEASURES as PUBLISHED_MEASURES
from training.evaluation.published import SETS, published, set_of
from training.models import AskedQuestion, Evaluation, Outcome
from training.services.evaluations.compare import CHANGES, DIFFERENT, compare_evaluations
from training.services.evaluations.describe import (
    find_evaluation,
    labels_of,
    list_evaluations,
    ordered_report,
    pipeline_of,
    summarise_evaluation,
)
from training.services.evaluations.named import named_evaluations
from training.services.evaluations.names import names_of
from training.services.evaluations.outcomes import FOUND, OutcomeFilters, outcomes
from training.services.export_report import FORMATS, export_report
from training.services.list_titles import list_titles
from training.views.shown.lost import QuestionShown, question_shown
from training.views.shown.report import (
    comparisons_of,
    judged_of,
    measures_of,
    pipelines_of,
    settings_of,
    slices_of,
    stages_told,
)

RIGHT = "training.view_evaluation"
PER_PAGE = 50
WORST = 15
"""Questions of the first pipeline that the report names as its worst."""
PAGE_KEYS = ("page",)

SORT_WORDINGS = {
    "position": "as asked", "-rank": "worst first", "rank": "best first", "-seconds": "slowest first",
    "seconds": "fastest first",
}  # fmt: skip
"""Words for the keys of `SORTS`."""

MOST_COMPARED = 200
"""Newest evaluations that are offered for a comparison."""
CHANGE_WORDINGS = {
    **dict(zip(CHANGES, ("those that differ", "those where B is better", "those where B is worse", "those without a "
                         "difference"), strict=True)), "": "all",
}  # fmt: skip
"""Words for the keys of `CHANGES`."""

View = Callable[..., HttpResponseBase]


def for_readers(view: View) -> View:
    """Let in who may view evaluations; ask others to sign in, or refuse who has signed in."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect(f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}")
        if not request.user.has_perm(RIGHT):
            raise PermissionDenied("Evaluations are for annotators and admins.")
        return view(request, *args, **kwargs)

    return checked


@require_safe
@says_what_is_down
@for_readers
def evaluations(request: HttpRequest) -> HttpResponse:
    """List the evaluations, newest first."""
    base = request.GET.get("knowledge_base", "")
    page = Paginator(list_evaluations(user=request.user, knowledge_base=base), PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {"page": page, "listed": _listed(page), "measures": list(MEASURES),
               "may_launch": request.user.has_perm("search.add_job")}  # fmt: skip
    return render(request, "training/evaluations.html", context)


@require_safe
@says_what_is_down
@for_readers
def report(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    """Show the report of an evaluation, or how far it has come."""
    evaluation = _found(request, evaluation_id)
    told = ordered_report(evaluation)
    context: dict[str, Any] = {
        "evaluation": evaluation, "formats": list(FORMATS), "others": _others(request, evaluation),
        "labels": labels_of(evaluation),
    }  # fmt: skip
    if told is None or "pipelines" not in told:
        context["asked"] = Outcome.objects.filter(evaluation=evaluation).count()
        context["due"] = evaluation.questions * len(labels_of(evaluation))
        return render(request, "training/report.html", context)
    pipelines, of_set = pipelines_of(told), _set_asked_for(request, evaluation)
    first = pipelines[0].label if pipelines else ""
    worst = outcomes(evaluation, OutcomeFilters(pipeline=first, sort="-rank", found="not first"))
    lost = outcomes(evaluation, OutcomeFilters(pipeline=first, sort="position", found="none"))
    context |= {
        "report": told, "pipelines": pipelines, "measures": measures_of(told), "comparisons": comparisons_of(told),
        "slices": slices_of(told), "stages": stages_told(pipelines), "first": first,
        "judged": judged_of(told), "judged_measures": list(JUDGED_MEASURES),
        "costed": any(one.cost for one in pipelines), "set": SETS.get(of_set), "sets": SETS,
        "published": published(of_set) if of_set else (), "published_measures": PUBLISHED_MEASURES,
        "funnels": any(one.funnel for one in pipelines), "calibrated": any(one.bins for one in pipelines),
        "sure_wrong": outcomes(evaluation, OutcomeFilters(pipeline=first, found="sure and wrong"))[:WORST],
        "worst": [(one, heading_of(one)) for one in [*lost[:WORST], *worst[:WORST]][:WORST]],
    }  # fmt: skip
    return render(request, "training/report.html", context)


def _set_asked_for(request: HttpRequest, evaluation: Evaluation) -> str:
    """Return the set of which published figures are shown: the one in the address, else that of the knowledge base."""
    given = request.GET.get("published", "")
    return given if given in SETS else set_of(evaluation.knowledge_base.name)


@require_safe
@says_what_is_down
@for_readers
def questions(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    """List the outcomes of an evaluation by question, filtered as the address says."""
    evaluation = _found(request, evaluation_id)
    given = request.GET.dict()
    faults: list[str] = []
    try:
        filters = OutcomeFilters.parse(given, evaluation, PAGE_KEYS)
    except InvalidRequest as error:
        filters, faults = OutcomeFilters(), [fault.sentence for fault in error.faults]
    page = Paginator(outcomes(evaluation, filters), PER_PAGE).get_page(request.GET.get("page"))
    kept = {key: value for key, value in given.items() if key not in PAGE_KEYS and value}
    context = {
        "evaluation": evaluation, "page": page, "listed": [(row, heading_of(row)) for row in page],
        "filters": filters, "faults": faults, "labels": labels_of(evaluation), "found": list(FOUND),
        "sorts": SORT_WORDINGS, "stages": list(LostStage), "kept": urlencode(kept),
        "state_names": Outcome.State.values,
    }  # fmt: skip
    return render(request, "training/questions.html", context)


@require_safe
@says_what_is_down
@for_readers
def question(request: HttpRequest, evaluation_id: UUID, position: int) -> HttpResponse:
    """Show one question: what was expected beside what each pipeline found, and where it was lost."""
    evaluation = _found(request, evaluation_id)
    asked = AskedQuestion.objects.filter(evaluation=evaluation, position=position).first()
    if asked is None:
        raise Http404("This evaluation has no such question.")
    rows = {row.pipeline: row for row in Outcome.objects.filter(evaluation=evaluation, question=asked)}
    shown = [_shown(evaluation, rows[label], asked) for label in labels_of(evaluation) if label in rows]
    ids = [*asked.answers, *(node.id for one in shown for node in one.found)]
    context = {
        "evaluation": evaluation, "asked": asked, "shown": shown, "names": names_of(evaluation, ids),
        "before": position - 1 if position else None,
        "after": position + 1 if position + 1 < evaluation.questions else None,
    }  # fmt: skip
    return render(request, "training/question.html", context)


@require_safe
@says_what_is_down
@for_readers
def compare(request: HttpRequest) -> HttpResponse:
    """Compare a pipeline of one evaluation with a pipeline of the same or another one, question by question.

    It opens with the newest two over the same questions, and with the questions on which the two differ.
    """
    given = request.GET
    done = list(list_evaluations(user=request.user).filter(status=Evaluation.Status.DONE)[:MOST_COMPARED])
    sides = [_side(request, given.get(name, "")) for name in ("a", "b")] if given else _newest_two(done)
    labels = [labels_of(side) if side else [] for side in sides]
    names = named_evaluations(dict.fromkeys([*done, *(side for side in sides if side)]))
    context: dict[str, Any] = {
        "choices": [(str(pk), name) for pk, name in names.items()],
        "a": sides[0], "b": sides[1], "metric": given.get("metric", "MRR"), "change": given.get("change", DIFFERENT),
        "measures": list(MEASURES), "changes": CHANGE_WORDINGS, "pipeline_a": given.get("pipeline_a", ""),
        "pipeline_b": given.get("pipeline_b", "") or _other_label(sides, labels, given.get("pipeline_a", "")),
        "faults": [], "labels_a": labels[0], "labels_b": labels[1],
    }  # fmt: skip
    if sides[0] is not None and sides[1] is not None:
        try:
            compared = compare_evaluations(
                sides[0], sides[1], pipeline_a=context["pipeline_a"], pipeline_b=context["pipeline_b"],
                metric=context["metric"], change=context["change"],
            )  # fmt: skip
            page = Paginator(compared["questions"], PER_PAGE).get_page(given.get("page"))
            kept = {key: value for key, value in given.items() if key not in PAGE_KEYS and value}
            context |= {"compared": compared, "page": page, "kept": urlencode(kept),
                        "settings": settings_of(compared["settings"]),
                        "test": next((one for one in compared["comparisons"] if one["metric"] == context["metric"]),
                                     None)}  # fmt: skip
        except InvalidRequest as error:
            context["faults"] = [fault.sentence for fault in error.faults]
    return render(request, "training/compare.html", context)


@require_safe
@says_what_is_down
@for_readers
def download(request: HttpRequest, evaluation_id: UUID) -> HttpResponseBase:
    """Return a file of an evaluation: TREC run, qrels, CSV, JSON or LaTeX."""
    evaluation = _found(request, evaluation_id)
    try:
        file = export_report(evaluation, request.GET.get("format", ""), request.GET.get("pipeline", ""))
    except InvalidRequest as error:
        raise Http404(" ".join(fault.sentence for fault in error.faults)) from error
    return export_answer(request, file.content, name=file.name, content_type=file.media_type)


def _found(request: HttpRequest, evaluation_id: UUID) -> Evaluation:
    evaluation = find_evaluation(evaluation_id, request.user)
    if evaluation is None:
        raise Http404("There is no evaluation with this address.")
    return evaluation


def _listed(page: Iterable[Evaluation]) -> list[tuple[Evaluation, str, dict[str, Any]]]:
    """Return each evaluation of a page with its name and its summary."""
    rows = list(page)
    names = named_evaluations(rows)
    return [(one, names[one.pk], summarise_evaluation(one)) for one in rows]


def _newest_two(done: Sequence[Evaluation]) -> list[Evaluation | None]:
    """Return the newest two evaluations over one question set, the older first; one with two pipelines is enough."""
    for at, newer in enumerate(done):
        same = (one for one in done[at + 1 :] if one.knowledge_base_id == newer.knowledge_base_id
                and one.question_set_id == newer.question_set_id and one.split == newer.split)  # fmt: skip
        if (older := next(same, None)) is not None:
            return [older, newer]
        if len(labels_of(newer)) > 1:
            return [newer, newer]
    return [None, None]


def _other_label(sides: Sequence[Evaluation | None], labels: Sequence[Sequence[str]], first: str) -> str:
    """Return the pipeline of B where none is named: of one evaluation the next one, else the same as that of A."""
    mine = first or next(iter(labels[0]), "")
    if sides[0] is not None and sides[0] == sides[1]:
        return next((label for label in labels[1] if label != mine), mine)
    return mine if mine in labels[1] else ""


def _side(request: HttpRequest, given: str) -> Evaluation | None:
    """Return one of the two evaluations to compare, or None if none is named or none has this id."""
    try:
        return find_evaluation(UUID(given), request.user) if given else None
    except ValueError:
        return None


def _others(request: HttpRequest, evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return id and name of the other finished evaluations of the same knowledge base, to compare with."""
    found = list_evaluations(user=request.user, knowledge_base=evaluation.knowledge_base.name)
    rows = list(found.filter(status=Evaluation.Status.DONE).exclude(pk=evaluation.pk)[:20])
    names = named_evaluations([evaluation, *rows])
    return [(str(one.pk), names[one.pk]) for one in rows]


def heading_of(outcome: Outcome) -> str:
    """Return the heading of the stage that lost a question; empty if it is not lost or not known here."""
    known = {stage.value: stage for stage in LostStage}
    return known[outcome.lost_at].heading if outcome.lost_at in known else ""


def _shown(evaluation: Evaluation, outcome: Outcome, asked: AskedQuestion) -> QuestionShown:
    attribution = _attribution(outcome)
    names = [one.name for one in attribution.lists] if attribution else []
    return question_shown(outcome, asked, attribution, list_titles(pipeline_of(evaluation, outcome.pipeline), names))


def _attribution(outcome: Outcome) -> Attribution | None:
    """Return where the question's answers were lost, or None if that was not computed."""
    return Attribution.from_json(outcome.lost) if outcome.lost else None
