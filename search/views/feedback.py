"""Feedback on the results of a search, given by the buttons of its page."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from search.domain.errors import Fault, InvalidRequest, NotAllowed, NotNow
from search.models import Feedback, SearchRun
from search.services.access.visitor_cookie import asking_visitor, keep_visitor
from search.services.access.visitors import Visitor
from search.services.feedback.give_feedback import KINDS, give_feedback, own_feedback, withdraw_feedback
from search.views.finding import find_run
from search.views.parts import wants_json
from search.views.results import results_page
from search.views.unavailable import not_now, says_what_is_down, status_of

WITHDRAW = "withdraw"
NO_NODE = "\ufffd"
"""Replaces an empty node id, because an empty id would withdraw all judgments."""


@require_POST
@says_what_is_down
def feedback(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Record or withdraw a person's judgment of a node.

    The name of the pressed button is the judgment (`right`, `wrong`, `missing`, `withdraw`), its value the node. A
    script that asks for JSON gets the new state or the fault; a browser without scripts is sent back to the result.
    """
    kind = next((name for name in (*KINDS, WITHDRAW) if name in request.POST), "")
    run = find_run(request, run_id, stored=kind == WITHDRAW)
    visitor = asking_visitor(request)
    node = request.POST.get(kind, "") or request.POST.get("node", "")
    try:
        answer = _done(request, run, kind, node, visitor)
    except InvalidRequest as error:
        answer = _refused(request, run, " ".join(fault.sentence for fault in error.faults), 400, node)
    except NotAllowed as error:
        answer = _refused(request, run, str(error), 403, node)
    except NotNow as error:
        answer = not_now(_refused(request, run, error.reason, status_of(error), node), error)
    keep_visitor(request, answer, visitor)
    return answer


def _done(request: HttpRequest, run: SearchRun, kind: str, node: str, visitor: Visitor) -> HttpResponse:
    if not kind:
        raise InvalidRequest([Fault("", "No button was pressed: right, wrong, missing or withdraw.")])
    given: Feedback | None
    if kind == WITHDRAW:
        given = own_feedback(run, request.user, visitor).filter(node_id=node.replace("\x00", "")).first()
        withdraw_feedback(run, node=node or NO_NODE, user=request.user, visitor=visitor)
    else:
        note = request.POST.get("note", "")
        given = give_feedback(run, node=node, kind=kind, note=note, user=request.user, visitor=visitor)
    if wants_json(request):
        return JsonResponse({"node": node, "kind": None if kind == WITHDRAW else kind})
    place = f"#result-{given.rank}" if given is not None and given.rank is not None else "#missing"
    return redirect(reverse("search-results", args=[run.pk]) + place)


def _refused(request: HttpRequest, run: SearchRun, sentence: str, status: int, node: str) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"fault": sentence}, status=status)
    return results_page(request, run, fault=sentence, typed=node, status=status)
