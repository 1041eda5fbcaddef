"""The form that edits the plan of a search and runs the changed plan as a new search, without a planner."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from search import wiring
from search.domain.errors import Fault, NotNow
from search.domain.graph import Schema
from search.models import Node, Release, SearchRun
from search.sentences.values import type_words
from search.services.access.visitor_cookie import asking_visitor, keep_visitor
from search.services.knowledge.find_nodes import complete_name
from search.services.searches.check_plan import check_plan
from search.services.searches.check_request import SearchRejected
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.views import plan_form
from search.views.finding import find_run
from search.views.form import asked_box
from search.views.parts import wants_part
from search.views.plan_additions import without_blanks
from search.views.plan_changes import changed
from search.views.plan_form import Json
from search.views.plan_inside import Around, entered
from search.views.shown.chips import EntityLookup, FoundEntity
from search.views.shown.editor import show_editor
from search.views.unavailable import not_now, says_what_is_down, status_of

ENTITIES_OFFERED = 8
ENTITIES_TIED = 5


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@says_what_is_down
def edit_plan(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show one of the search's plans as a form; `plan` in the query is its number, from 1.

    A POST carries out the action of the pressed button and shows the form again. The action `ask` runs the plan as a
    new search with the same question and redirects to its page. The action `inside` shows the plan inside an anchor as
    the form, `outside` and `back` return to the plan around it, with what was changed or without.
    """
    run = find_run(request, run_id)
    release = run.knowledge_base.active_release if run.knowledge_base else None
    if release is None:
        raise Http404("The knowledge base of this search can no longer be searched.")
    schema = wiring.schema_of(release)
    if request.method != "POST":
        return _page(request, run, release, plan_form.oriented(chosen_plan(run, request.GET.get("plan", "1"))))
    fields = request.POST.dict()
    plan, around = plan_form.oriented(plan_form.read_plan(fields, schema)), Around.of(fields, schema)
    action, _, given = request.POST.get("do", "check").partition(" ")
    if action == "inside" and (inside := entered(fields, plan, given, schema)):
        return _page(request, run, release, inside[0], around=inside[1])
    if action == "back" and around is not None:
        return _page(request, run, release, plan_form.oriented(around.plan), around=Around.of(around.fields, schema))
    while action in ("ask", "outside") and around is not None:
        outer, faults = around.with_inner(plan, schema)
        if faults or _blanks(plan):
            return _page(request, run, release, plan, more=faults, status=400, around=around)
        plan, around = plan_form.oriented(outer), Around.of(around.fields, schema)
        if action == "outside":
            break
    if action == "ask":
        return ask_with(request, run, release, plan)
    looked = _look(release, plan, given) if action == "look" else None
    if action not in ("look", "check", "inside", "outside", "back"):
        plan = plan_form.oriented(changed(plan, action, given, schema))
    return _page(request, run, release, plan, looked=looked, around=around)


def chosen_plan(run: SearchRun, number: str) -> Json:
    """Return the plan with that number, from 1.

    A failed search without plans offers the plan that came with its request. Raises Http404 if there is no such plan.
    """
    plans = [entry["plan"] for entry in describe_search(run)["plans"]]
    if not plans and isinstance(run.plan, dict) and run.status == SearchRun.Status.FAILED:
        plans = [run.plan]
    at = int(number) - 1 if number.isdecimal() and len(number) < 4 else -1
    if not 0 <= at < len(plans):
        raise Http404("This search has no such plan.")
    return {"anchors": [], "hops": [], "filters": [], "risk_level": "normal"} | plans[at]


def ask_with(request: HttpRequest, run: SearchRun, release: Release, plan: Json) -> HttpResponse:
    """Run a plan as a new search with the same question; show the form with the faults if it cannot be run."""
    checked = check_plan(without_blanks(plan), wiring.schema_of(release))
    if checked.plan is None or _blanks(plan):
        return _page(request, run, release, plan, status=400)
    visitor = asking_visitor(request)
    try:
        asked = request_search(
            knowledge_base=run.knowledge_base_name,
            question=run.question,
            pipeline=run.pipeline,
            k=run.k,
            plan=checked.plan.to_json(),
            settings=run.options,
            user=request.user,
            visitor=visitor,
            origin=SearchRun.Origin.PAGE,
        )
    except SearchRejected as error:
        faults = [Fault(fault.pointer.removeprefix("/plan"), fault.message) for fault in error.faults]
        return _page(request, run, release, plan, more=faults, status=400)
    except NotNow as error:
        faults = [Fault("", error.reason)]
        return not_now(_page(request, run, release, plan, more=faults, status=status_of(error)), error)
    answer = redirect("search-results", asked.pk)
    keep_visitor(request, answer, visitor)
    return answer


def _page(
    request: HttpRequest,
    run: SearchRun,
    release: Release,
    plan: Json,
    *,
    looked: EntityLookup | None = None,
    more: Iterable[Fault] = (),
    status: int = 200,
    around: Around | None = None,
) -> HttpResponse:
    schema = wiring.schema_of(release)
    names, blank = _names(release, plan), _blanks(plan)
    faults = list(dict.fromkeys([*_faults(plan, blank, schema), *_strangers(plan, names, release), *more]))
    # An empty field counts as a fault only when the user wants to run the plan.
    editor = show_editor(plan, schema, [*blank, *faults] if status == 400 else faults, names, looked)
    context: dict[str, Any] = {"run": run, "editor": editor, "unfinished": bool(blank), "around": around}
    if wants_part(request):
        return render(request, "search/_plan_editor.html", context, status=status)
    box = asked_box(request, run)
    return render(request, "search/plan.html", context | {"box": box}, status=status)


def _blanks(plan: Json) -> list[Fault]:
    """Return a fault for every entity without a name and every condition without a value."""
    given = [c.get("value", True) for c in plan["filters"]]
    values = [value if isinstance(value, list) else [value] for value in given]
    unnamed = [
        i for i, anchor in enumerate(plan["anchors"]) if not (anchor["text"] or anchor.get("ids") or anchor.get("plan"))
    ]
    return [
        *(Fault(f"/anchors/{i}/text", "Name an entity, or remove this one.") for i in unnamed),
        *(Fault(f"/filters/{i}/value", "Give the condition a value, or remove it.")
          for i, several in enumerate(values) if not several or "" in several),
    ]  # fmt: skip


def _faults(plan: Json, blank: Sequence[Fault], schema: Schema) -> list[Fault]:
    """Return the faults of the plan other than its empty fields.

    Empty fields are filled or left out for the check, because they would otherwise hide faults of relations.
    """
    empty = {fault.pointer for fault in blank}
    named = [
        anchor | ({"text": "?"} if f"/anchors/{i}/text" in empty else {}) for i, anchor in enumerate(plan["anchors"])
    ]
    plan = without_blanks(plan) | {"anchors": named}
    found = [fault for fault in check_plan(plan, schema).faults if fault.pointer not in empty]
    if not blank:
        return found
    walk = check_plan(plan | {"filters": []}, schema).faults
    return found + [fault for fault in walk if fault.pointer.startswith("/hops/") and fault not in found]


def _names(release: Release, plan: Json) -> dict[str, str]:
    """Return the names, by id, of the nodes that the user picked for the anchors."""
    ids = [
        node_id
        for anchor in plan["anchors"]
        for node_id in anchor.get("ids", ())[:ENTITIES_TIED]
        if "\x00" not in node_id
    ]
    found = Node.objects.filter(snapshot_id=release.snapshot_id, id__in=ids)
    return dict(found.values_list("id", "name"))


def _strangers(plan: Json, names: dict[str, str], release: Release) -> list[Fault]:
    """Return a fault for every anchor whose picked nodes are all missing from the active release."""
    return [
        Fault(f"/anchors/{i}/ids", f"{release.name} does not have this entity; pick another.")
        for i, anchor in enumerate(plan["anchors"])
        if anchor.get("ids") and not any(node_id in names for node_id in anchor["ids"][:ENTITIES_TIED])
    ]


def _look(release: Release, plan: Json, given: str) -> EntityLookup | None:
    """Return the entities whose name, or a word of it, begins with the anchor's text.

    They have the anchor's type, or any type if there are none of its type. The result is None if the plan has no
    anchor with the given index.
    """
    index = int(given) if given.isdecimal() and len(given) < 3 else 99
    if index >= len(plan["anchors"]):
        return None
    anchor = plan["anchors"][index]
    types = release.snapshot.schema.node_types
    label = anchor["label"] if anchor["label"] in release.snapshot.schema.type_codes else ""
    for node_type in dict.fromkeys((label, "")):
        found = tuple(
            FoundEntity(node.name, type_words(types[node.type].name), _pick(index, node, types[node.type].name))
            for node in complete_name(release, anchor["text"], ENTITIES_OFFERED, node_type)
        )
        if found:
            return EntityLookup(index, found)
    return EntityLookup(index, ())


def _pick(index: int, node: Node, label: str) -> str:
    return f"pick {json.dumps([index, node.id, node.name, label])}"
