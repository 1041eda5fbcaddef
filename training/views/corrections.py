"""The pages of corrections: what was made a training example, and what learning from it changed."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from search.models import Job
from search.views.unavailable import says_what_is_down
from training.models import Evaluation
from training.services.annotation.corrections import list_corrections
from training.services.annotation.learn import learned_of, rank_changes
from training.services.evaluations.describe import find_evaluation, list_evaluations
from training.services.evaluations.names import names_of
from training.views.evaluations import for_readers

PER_PAGE = 50
NEWEST = 20


@require_safe
@says_what_is_down
@for_readers
def corrections(request: HttpRequest) -> HttpResponse:
    """List the corrections, and the learnings from them."""
    base = request.GET.get("knowledge_base", "")
    page = Paginator(list_corrections(request.user, base), PER_PAGE).get_page(request.GET.get("page"))
    evaluations = list_evaluations(user=request.user, knowledge_base=base).filter(options__has_key="corrections")
    learned = [(one, learned_of(one)) for one in evaluations[:NEWEST]]
    bases = sorted({one.knowledge_base.name for one in list_corrections(request.user)})
    context = {
        "page": page, "learned": learned, "base": base, "bases": bases,
        "may_launch": request.user.has_perm("search.add_job"),
        "may_delete": request.user.has_perm("training.delete_correction"),
    }  # fmt: skip
    return render(request, "training/annotate/corrections.html", context)


@require_safe
@says_what_is_down
@for_readers
def changed(request: HttpRequest, evaluation_id: UUID) -> HttpResponse:
    """Show the rankings of the corrected questions before and after a learning, and what happened to others."""
    evaluation = _found(request, evaluation_id)
    rows = rank_changes(evaluation.pk)
    told = learned_of(evaluation) or {}
    others = find_evaluation(UUID(told["others"]), request.user) if told.get("others") else None
    moved = [one for one in rank_changes(others.pk) if one.gain] if others else []
    ids = [node for one in (*rows, *moved) for node in (*one.answers, *one.top_before, *one.top_after)]
    context = {
        "evaluation": evaluation, "rows": rows, "told": told, "others": others, "moved": moved[:PER_PAGE],
        "moved_count": len(moved), "names": names_of(evaluation, ids),
        "job": Job.objects.filter(result__evaluation=str(evaluation.pk)).first(),
    }  # fmt: skip
    return render(request, "training/annotate/changed.html", context)


@require_POST
@says_what_is_down
@for_readers
def delete(request: HttpRequest, correction_id: int) -> HttpResponseBase:
    """Delete a correction; what was learned from it stays learned."""
    if not request.user.has_perm("training.delete_correction"):
        raise PermissionDenied("Corrections are deleted by admins.")
    found = list_corrections(request.user).filter(pk=correction_id).first()
    if found is None:
        raise Http404("There is no such correction.")
    found.delete()
    messages.success(request, f"“{found.question[:80]}” is no training example any more.")
    return redirect("corrections")


def _found(request: HttpRequest, evaluation_id: UUID) -> Evaluation:
    evaluation = find_evaluation(evaluation_id, request.user)
    if evaluation is None or learned_of(evaluation) is None:
        raise Http404("There is no learning from corrections with this address.")
    return evaluation
