"""The pages of annotation: the queues, the judging page, and the guideline of a queue."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_safe
from markdown_it import MarkdownIt

from search.domain.errors import InvalidRequest
from search.views.unavailable import says_what_is_down
from training.models import AnnotationQueue
from training.services.annotation.agree import able_to_judge, may_lead, still_judging
from training.services.annotation.assign import progress_of_people, share_out
from training.services.annotation.describe import dropped_notice, find_queue, list_queues, progress_of, vocabulary
from training.services.annotation.fill_queue import filling_sentence
from training.views.shown.agreement import GRADE_WORDS

RIGHT = "training.add_judgement"
MOST_LISTED = 200
MARKDOWN = MarkdownIt("commonmark", {"html": False})
"""HTML in a guideline is shown as text."""

View = Callable[..., HttpResponseBase]


def for_annotators(view: View) -> View:
    """Let in who may judge; ask others to sign in, or refuse who has signed in."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect(f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}")
        if not request.user.has_perm(RIGHT):
            raise PermissionDenied("Judging is for annotators and admins.")
        return view(request, *args, **kwargs)

    return checked


@require_safe
@never_cache
@says_what_is_down
@for_annotators
def queues(request: HttpRequest) -> HttpResponse:
    """List the queues with the reader's progress; with `open`, after signing in, lead to the only one that is open."""
    listed = list_queues(request.user)[:MOST_LISTED]
    if "open" in request.GET:
        waiting = [one for one in listed if one.state == AnnotationQueue.State.OPEN]
        return redirect("annotate-queue", waiting[0].pk) if len(waiting) == 1 else redirect("annotate")
    shown = [
        (one, progress_of(one, request.user), _leads(request.user, one), filling_sentence(one))  # type: ignore[arg-type]
        for one in listed
    ]
    context = {
        "shown": shown,
        "open_state": AnnotationQueue.State.OPEN,
        "may_make": request.user.has_perm("training.add_annotationqueue"),
    }
    return render(request, "training/annotate/queues.html", context)


@require_safe
@never_cache
@ensure_csrf_cookie
@says_what_is_down
@for_annotators
def judging(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Show the judging page of a queue; its script fetches the items from the API."""
    queue = _found(request, queue_id)
    words = vocabulary()
    grades = shown_grades(words["grades"])
    context = {
        "queue": queue, "grades": grades, "causes": words["causes"], "stages": words["stages"],
        "guideline": rendered(queue.guideline), "notice": dropped_notice(queue), "entities": _entities(queue),
    }  # fmt: skip
    return render(request, "training/annotate/judge.html", context)


@require_safe
@says_what_is_down
@for_annotators
def guideline(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Show the guideline of a queue."""
    queue = _found(request, queue_id)
    return render(request, "training/annotate/guideline.html", {"queue": queue, "guideline": rendered(queue.guideline)})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@says_what_is_down
@for_annotators
def people(request: HttpRequest, queue_id: int) -> HttpResponseBase:
    """Show how far each person is, and share the items out among people; for who leads the queue. It shows no grade."""
    queue = _found(request, queue_id)
    if not may_lead(request.user, queue):
        return render(request, "training/annotate/not_yet.html", {"queue": queue, "waiting": None}, status=403)
    able = able_to_judge(queue)
    if request.method == "POST":
        everybody = "everybody" in request.POST
        named = [] if everybody else request.POST.getlist("people")
        _share_out(request, queue, [one for one in able if str(one.pk) in named], everybody)
        return redirect("annotation-people", queue.pk)
    shown = progress_of_people(queue, able)
    progress = progress_of(queue, request.user)  # type: ignore[arg-type]
    context = {
        "queue": queue, "shown": shown, "able": {one.pk for one in able}, "progress": progress,
        "to_judge": progress["items"] - progress["retired"], "shared": any(one.assigned for one in shown),
    }  # fmt: skip
    return render(request, "training/annotate/people.html", context)


def _share_out(request: HttpRequest, queue: AnnotationQueue, chosen: list[User], everybody: bool) -> None:
    if not chosen and not everybody:
        messages.error(request, "Choose who is to judge, or leave the items to everybody.")
        return
    try:
        share_out(queue, chosen)
    except InvalidRequest as error:
        messages.error(request, " ".join(fault.sentence for fault in error.faults))
        return
    among = f"shared out among {len(chosen)} {'person' if len(chosen) == 1 else 'people'}"
    messages.success(request, f"The items are {among if chosen else 'for everybody again'}.")


def _leads(user: AbstractBaseUser | AnonymousUser, queue: AnnotationQueue) -> str:
    """Return whether a person may see the grades of others: `now`, `later` (they still judge), or nothing."""
    if not may_lead(user, queue):
        return ""
    return "later" if still_judging(user, queue) else "now"


def _entities(queue: AnnotationQueue) -> str:
    """Return the beginning of the addresses of entities, or nothing if the queue is about another release than now."""
    if queue.release_id is None or queue.release_id != queue.knowledge_base.active_release_id:
        return ""
    return reverse("search-entity", args=[queue.knowledge_base.name, "-"]).removesuffix("-/")


def _found(request: HttpRequest, queue_id: int) -> AnnotationQueue:
    queue = find_queue(queue_id, request.user)
    if queue is None:
        raise Http404("There is no annotation queue with this address.")
    return queue


def shown_grades(grades: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the grades with the first words of each, for which a phone has room. The key of a grade is the grade."""
    return [one | {"word": GRADE_WORDS[one["grade"]]} for one in grades]


def rendered(guideline: str) -> SafeString:
    """Return the Markdown of a guideline as HTML."""
    return mark_safe(MARKDOWN.render(guideline))
