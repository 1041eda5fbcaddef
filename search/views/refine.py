"""One change to the plan that a search shows, run at once as a new search: facets and conditions on its page."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from search import wiring
from search.services.searches.describe_search import describe_search
from search.views.finding import find_run
from search.views.plan import ask_with, chosen_plan
from search.views.plan_changes import changed
from search.views.plan_form import oriented
from search.views.unavailable import says_what_is_down


@require_POST
@says_what_is_down
def refine(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Run the shown plan of a search with the change of the pressed button, and redirect to the new search.

    A plan that cannot be run with the change is shown in the form that edits plans, with its faults.
    """
    run = find_run(request, run_id)
    release = run.knowledge_base.active_release if run.knowledge_base else None
    index = describe_search(run)["plan_index"]
    if release is None or index is None:
        raise Http404("This search has no plan that could be changed.")
    plan = oriented(chosen_plan(run, str(index + 1)))
    action, _, given = request.POST.get("do", "").partition(" ")
    schema = wiring.schema_of(release)
    return ask_with(request, run, release, oriented(changed(plan, action, given, schema)))
