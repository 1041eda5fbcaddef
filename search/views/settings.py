"""The settings of a knowledge base, for staff: guidance for planners, additional wordings, hidden types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from search.domain.errors import Fault, InvalidRequest, pointer
from search.domain.graph import Schema
from search.domain.schema_settings import LONGEST_ALIAS, LONGEST_GUIDANCE, MOST_ALIASES
from search.models import KnowledgeBase, KnowledgeBaseSettings
from search.services.knowledge.save_knowledge_settings import activate_knowledge_settings, save_knowledge_settings
from search.views.finding import find_knowledge_base
from search.views.form import typed_text
from search.views.unavailable import says_what_is_down

P = ParamSpec("P")
PERMISSION = "search.change_knowledgebase"
VERSIONS = 20
_BETWEEN = re.compile(r"[,;\n]")


@dataclass(frozen=True, slots=True)
class WordingRow:
    """One row of the form: a node type or relation; `own` are the wordings from the bundle."""

    key: str
    name: str
    count: int
    own: tuple[str, ...]
    aliases: str
    faults: tuple[str, ...]
    shown: bool = True
    answerable: bool = True


def for_keepers(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Return the view restricted to staff who may change knowledge bases.

    Users who are not signed in are redirected to the sign-in page; for all others it raises PermissionDenied.
    """

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not (request.user.is_staff and request.user.has_perm(PERMISSION)):
            raise PermissionDenied("Only staff who may change knowledge bases see their settings.")
        return view(request, *args, **kwargs)

    return answer


@require_safe
@says_what_is_down
@for_keepers
def settings_list(request: HttpRequest) -> HttpResponse:
    """List the knowledge bases with the version of their settings; redirect to it if there is only one."""
    bases = list(KnowledgeBase.objects.visible_to(request.user).select_related("active_settings", "active_release"))
    if len(bases) == 1:
        return redirect("search-settings", bases[0].name)
    return render(request, "search/settings_list.html", {"bases": bases})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@says_what_is_down
@for_keepers
def knowledge_settings(request: HttpRequest, name: str) -> HttpResponse:
    """Show the settings of one knowledge base; on POST, save them as a new version or show the faults."""
    base = find_knowledge_base(request, name)
    if base.active_release is None:
        raise Http404(f"“{name}” has no active release.")
    schema = base.active_release.snapshot.schema
    if request.method != "POST":
        return _page(request, base, schema, base.active_settings.values if base.active_settings else {})
    values = _read(request.POST, schema)
    try:
        assert isinstance(request.user, User)
        save_knowledge_settings(knowledge_base=base, values=values, author=request.user)
    except InvalidRequest as error:
        return _page(request, base, schema, values, error.faults)
    return redirect("search-settings", base.name)


@require_POST
@says_what_is_down
@for_keepers
def settings_back(request: HttpRequest, name: str) -> HttpResponse:
    """Activate the posted version of the settings, older or newer than the active one."""
    base = find_knowledge_base(request, name)
    number = request.POST.get("version", "")
    wanted = int(number) if number.isdecimal() and len(number) < 9 else -1
    version = KnowledgeBaseSettings.objects.filter(knowledge_base=base, version=wanted).first()
    if version is None:
        raise Http404("There is no such version.")
    activate_knowledge_settings(version)
    return redirect("search-settings", base.name)


def _read(posted: Mapping[str, str], schema: Schema) -> dict[str, Any]:
    """Return the values of the form without those equal to the bundle's. Fields are named by their JSON pointer."""
    values: dict[str, Any] = {}
    if guidance := typed_text(posted.get("/guidance", "")).strip():
        values["guidance"] = guidance
    known = {t.name: t for t in schema.node_types}
    for part, names in (("types", list(known)), ("relations", [r.name for r in schema.relations])):
        entries: dict[str, Any] = {
            name: _aliases(posted, part, name) for name in [*names, *_others(posted, part, names)]
        }
        if part == "types":
            for name in entries:
                entries[name] |= _flags(posted, name, known[name].answerable if name in known else True)
        if kept := {name: entry for name, entry in entries.items() if entry}:
            values[part] = kept
    return values


def _others(posted: Mapping[str, str], part: str, names: Sequence[str]) -> list[str]:
    """Return at most 50 names of types or relations that are in the form but not in the schema."""
    return [
        key.split("/", 3)[3]
        for key, value in posted.items()
        if key.startswith(f"/{part}/aliases/") and value.strip() and key.split("/", 3)[3] not in names
    ][:50]


def _aliases(posted: Mapping[str, str], part: str, name: str) -> dict[str, Any]:
    said = [" ".join(alias.split()) for alias in _BETWEEN.split(posted.get(f"/{part}/aliases/{name}", ""))]
    return {"aliases": aliases} if (aliases := [alias for alias in said if alias]) else {}


def _flags(posted: Mapping[str, str], name: str, answerable: bool) -> dict[str, bool]:
    """Return the flags of a type that differ from the bundle. A browser does not post a box that is not ticked."""
    if f"/types/there/{name}" not in posted:
        return {}
    shown = f"/types/shown/{name}" in posted
    answers = f"/types/answerable/{name}" in posted
    return ({} if shown else {"hidden": True}) | ({} if answers == answerable else {"answerable": answers})


def _page(
    request: HttpRequest, base: KnowledgeBase, schema: Schema, values: Mapping[str, Any], faults: Sequence[Fault] = ()
) -> HttpResponse:
    said: dict[str, list[str]] = {}
    for fault in faults:
        said.setdefault("/".join(fault.pointer.split("/")[:3]), []).append(fault.message)
    context = {
        "base": base,
        "guidance": values.get("guidance", ""),
        "longest_guidance": LONGEST_GUIDANCE,
        "longest_aliases": MOST_ALIASES * (LONGEST_ALIAS + 2),
        "types": _types(schema, values, said),
        "relations": _relations(schema, values, said),
        "guidance_faults": said.pop("/guidance", []),
        "faults": [message for messages in said.values() for message in messages],
        "versions": base.settings_versions.select_related("author")[:VERSIONS],
        "wrong": bool(faults),
    }
    return render(request, "search/settings.html", context, status=400 if faults else 200)


def _types(schema: Schema, values: Mapping[str, Any], faults: dict[str, list[str]]) -> list[WordingRow]:
    own = values.get("types", {})
    rows = []
    for t in schema.node_types:
        entry = own.get(t.name, {})
        aliases, told = ", ".join(entry.get("aliases", ())), tuple(faults.pop(pointer("types", t.name), ()))
        shown = not entry.get("hidden", t.hidden)
        rows.append(
            WordingRow(t.name, t.name, t.count, t.aliases, aliases, told, shown, entry.get("answerable", t.answerable))
        )
    return rows


def _relations(schema: Schema, values: Mapping[str, Any], faults: dict[str, list[str]]) -> list[WordingRow]:
    own = values.get("relations", {})
    counts: dict[str, int] = {}
    for kind in schema.relation_types:
        counts[kind.relation] = counts.get(kind.relation, 0) + kind.count
    return [
        WordingRow(
            r.name, r.name, counts.get(r.name, 0), tuple(filter(None, (r.description, r.inverse, *r.aliases))),
            ", ".join(own.get(r.name, {}).get("aliases", ())), tuple(faults.pop(pointer("relations", r.name), ())),
        )
        for r in schema.relations
    ]  # fmt: skip
