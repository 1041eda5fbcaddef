"""The pages of a queue's agreement: the figures, the disagreements with their decisions, exports, corrections."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from search.domain.errors import InvalidRequest, SearchError
from search.downloads import export_answer
from search.services.jobs.launch import launch_job
from search.views.unavailable import says_what_is_down
from training.annotation.final_grades import GradingWay
from training.data.examples import BadQuestions
from training.models import AnnotationQueue, FinalRule
from training.services.annotation.adjudicate import adjudicate, choose_rule, disagreements
from training.services.annotation.agree import LEADS, agreement_of, may_lead, note_look, still_judging
from training.services.annotation.corrected import CorrectedQuestion, corrected_questions, text_key
from training.services.annotation.corrections import keep_correction, list_corrections
from training.services.annotation.export import export_queue, make_question_set, set_of
from training.services.annotation.grades import SCALE, GradedItem, QueueGrades, read_grades
from training.views.shown.agreement import GRADE_WORDS, agreement_shown

PER_PAGE = 30
SHOWN = {"differ": "disagreements", "all": "everything that was judged", "open": "items without a final grade"}
View = Callable[..., HttpResponseBase]


def for_leads(view: View) -> View:
    """Give the view the queue if the user may see the grades of others and is not judging in it any more."""

    @wraps(view)
    def checked(request: HttpRequest, queue_id: int, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect(f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}")
        found = AnnotationQueue.objects.visible_to(request.user).select_related("knowledge_base", "evaluation")
        queue = found.filter(pk=queue_id).first()
        if queue is None:
            raise Http404("There is no annotation queue with this address.")
        if not may_lead(request.user, queue):
            return render(request, "training/annotate/not_yet.html", {"queue": queue, "waiting": None}, status=403)
        waiting = still_judging(request.user, queue)
        if waiting:
            may_close = request.user.has_perm(LEADS)
            shown = {"queue": queue, "waiting": waiting, "may_close": may_close}
            return render(request, "training/annotate/not_yet.html", shown, status=403)
        note_look(request.user, queue)
        return view(request, queue, *args, **kwargs)

    return checked


@require_safe
@says_what_is_down
@for_leads
def agreement(request: HttpRequest, queue: AnnotationQueue) -> HttpResponse:
    """Show how far the annotators of a queue agree, the rule of final grades, and what can be made of them."""
    grades = read_grades(queue)
    shown = agreement_shown(agreement_of(queue, grades))
    context = {
        "queue": queue, "shown": shown, "rule": grades.rule,
        "alphas": (("steps of a scale (ordinal)", shown.ordinal), ("names (nominal)", shown.nominal)),
        "rules": FinalRule.Rule.choices, "grade_words": GRADE_WORDS, "question_set": set_of(queue),
        "models": list(queue.model_annotators.all()), "open": sum(one.final.grade is None for one in grades.items),
        "alone": sum(one.final.way is GradingWay.SINGLE for one in grades.items),
        "decided": sum(one.adjudication is not None and one.adjudication.grade is not None for one in grades.items),
        "may_launch": request.user.has_perm("search.add_job"), "may_make_set": _may_make_set(request),
    }  # fmt: skip
    return render(request, "training/annotate/agreement.html", context)


@require_safe
@says_what_is_down
@for_leads
def items(request: HttpRequest, queue: AnnotationQueue) -> HttpResponse:
    """List the items of a queue with all their grades: those on which people disagree, all, or the open ones."""
    shown = request.GET.get("show", "differ")
    if shown not in SHOWN:
        raise Http404(f"Items are shown as: {', '.join(SHOWN)}.")
    grades = read_grades(queue)
    page = Paginator(_chosen(grades, shown), PER_PAGE).get_page(request.GET.get("page"))
    corrected = corrected_questions(grades)
    kept = set(list_corrections(request.user, queue.knowledge_base.name).values_list("text_hash", flat=True))
    listed = [(one, corrected[text_key(one.item.question)], one.item.text_hash in kept) for one in page]
    context = {
        "queue": queue, "page": page, "listed": listed, "show": shown, "shows": SHOWN, "scale": SCALE,
        "grade_words": GRADE_WORDS, "graders": grades.graders, "kept": urlencode({"show": shown}),
        "rule": grades.rule,
    }  # fmt: skip
    return render(request, "training/annotate/disagreements.html", context)


def _chosen(grades: QueueGrades, shown: str) -> list[GradedItem]:
    if shown == "differ":
        return disagreements(grades)
    judged = [one for one in grades.items if one.given]
    return [one for one in judged if one.final.grade is None] if shown == "open" else judged


@require_POST
@says_what_is_down
@for_leads
def decide(request: HttpRequest, queue: AnnotationQueue, item_id: int) -> HttpResponseBase:
    """Store an adjudicator's decision about an item."""
    grades = read_grades(queue)
    found = next((one for one in grades.items if one.item.pk == item_id), None)
    if found is None:
        raise Http404("This queue has no such item.")
    given, last = request.POST.get("grade", ""), request.POST.get("seen", "")
    try:
        grade = None if given == "open" else int(given) if given.isdecimal() and len(given) < 5 else -1
        adjudicate(item=found.item, user=request.user, grade=grade, note=request.POST.get("note", ""),  # type: ignore[arg-type]
                   seen=found.given, last=int(last) if last.isdecimal() and len(last) < 19 else None)  # fmt: skip
    except InvalidRequest as error:
        _say(request, error)
    else:
        said = "is open again" if grade is None else f"has the final grade {grade}"
        messages.success(request, f"“{found.item.question[:80]}” · {found.item.node_name} {said}.")
    return _back(request, queue)


@require_POST
@says_what_is_down
@for_leads
def correct(request: HttpRequest, queue: AnnotationQueue, item_id: int) -> HttpResponseBase:
    """Keep the corrected question of an item as a training example."""
    question = _question_of(queue, item_id)
    try:
        kept = keep_correction(queue, question, request.user)
    except InvalidRequest as error:
        _say(request, error)
    else:
        number = f"{len(kept.answers)} answer{'' if len(kept.answers) == 1 else 's'}"
        said = f"“{kept.question[:80]}” is kept as a training example now, with {number}."
        if question.kept_apart:
            messages.warning(request, f"{said} {question.kept_apart}")
        else:
            messages.success(request, said)
    return _back(request, queue)


def _question_of(queue: AnnotationQueue, item_id: int) -> CorrectedQuestion:
    item = queue.items.filter(pk=item_id).first()
    corrected = corrected_questions(read_grades(queue)) if item else {}
    if item is None or text_key(item.question) not in corrected:
        raise Http404("This queue has no such item that was judged.")
    return corrected[text_key(item.question)]


@require_POST
@says_what_is_down
@for_leads
def rule(request: HttpRequest, queue: AnnotationQueue) -> HttpResponseBase:
    """Choose how the grades of the queue become final ones."""
    start = request.POST.get("relevant_from", "")
    try:
        choose_rule(
            queue=queue, rule=request.POST.get("rule", ""), models=request.POST.getlist("models"),
            relevant_from=int(start) if start.isdecimal() and len(start) < 5 else 0,
        )  # fmt: skip
        messages.success(request, "The rule of final grades is saved.")
    except InvalidRequest as error:
        _say(request, error)
    return redirect("annotation-agreement", queue.pk)


@require_safe
@says_what_is_down
@for_leads
def export(request: HttpRequest, queue: AnnotationQueue) -> HttpResponseBase:
    """Return the judgements of a queue as a file: qrels or JSON lines."""
    try:
        file = export_queue(queue, request.GET.get("format", ""))
    except InvalidRequest as error:
        raise Http404(" ".join(fault.sentence for fault in error.faults)) from error
    return export_answer(request, file.content, name=file.name, content_type=file.media_type)


@require_POST
@says_what_is_down
@for_leads
def question_set(request: HttpRequest, queue: AnnotationQueue) -> HttpResponseBase:
    """Store a new version of the queue's question set with its judgements."""
    if not _may_make_set(request):
        raise PermissionDenied("Question sets are made by annotators and admins.")
    try:
        made, new = make_question_set(queue, name=request.POST.get("name", ""), user=request.user)
    except BadQuestions as error:
        messages.error(request, " ".join(error.faults))
        return redirect("annotation-agreement", queue.pk)
    except InvalidRequest as error:
        _say(request, error)
        return redirect("annotation-agreement", queue.pk)
    messages.success(request, f"{made} {'is saved' if new else 'was there already with exactly these judgements'}.")
    return redirect("admin:training_questionset_change", made.pk)


@require_POST
@says_what_is_down
@for_leads
def ask_model(request: HttpRequest, queue: AnnotationQueue) -> HttpResponseBase:
    """Launch the job with which the configured language model judges the items of the queue."""
    try:
        job, _ = launch_job(
            kind="judge_items", knowledge_base=queue.knowledge_base.name, arguments={"queue_id": queue.pk},
            user=request.user,
        )  # fmt: skip
    except InvalidRequest as error:
        _say(request, error)
    except SearchError as error:
        messages.error(request, str(error))
    else:
        return redirect("admin:search_job_change", job.pk)
    return redirect("annotation-agreement", queue.pk)


def _may_make_set(request: HttpRequest) -> bool:
    return request.user.has_perm("training.add_questionset")


def _say(request: HttpRequest, error: InvalidRequest) -> None:
    messages.error(request, " ".join(fault.sentence for fault in error.faults))


def _back(request: HttpRequest, queue: AnnotationQueue) -> HttpResponseBase:
    """Return to the list from which the form was sent."""
    kept = {key: request.POST[key] for key in ("show", "page") if request.POST.get(key)}
    item = request.POST.get("at", "")
    anchor = f"#{item}" if item.isalnum() else ""
    return redirect(f"{reverse('annotation-items', args=[queue.pk])}?{urlencode(kept)}{anchor}")
