"""The paths between two nodes that somebody chooses: a drawing, a list, and both to download."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from search.models import KnowledgeBase, Release
from search.plan_words import Relations, plural
from search.sentences.values import type_words
from search.services.knowledge.paths_between import EXPORTED, LISTED, Group, PathsBetween, paths_between
from search.shortest_paths import MOST_HOPS
from search.text import words
from search.views.export import csv_answer
from search.views.finding import find_knowledge_base
from search.views.nodes import MeantNode, meant
from search.views.shown.between import sketch
from search.views.shown.results import show_path
from search.views.unavailable import says_what_is_down

MOST_CHANGES = 20
"""Groups that can be opened, and types that can be left out."""
GROUP_PAGE = 100


@require_safe
@says_what_is_down
def paths_of_two(request: HttpRequest, name: str) -> HttpResponse:
    """Show the shortest paths between `from` and `to`, ids or names; without them, the form that asks for both.

    `hops` is the largest length, `open` opens a group (`<layer>.<type>`), `without` leaves a type out; both may come
    several times. `list` shows the nodes of a group, `page` turns the pages of the lists.
    """
    base, start, end, found = _asked(request, name)
    context: dict[str, Any] = {
        "base": base, "start": start, "end": end, "found": found, "hops": _hops(request),
        "choices": range(1, MOST_HOPS + 1),
    }  # fmt: skip
    if found is not None and found.layers:
        context |= _shown(request, found, base)
    return render(request, "search/paths_between.html", context)


@require_safe
@says_what_is_down
def paths_of_two_csv(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return the paths as a table, the first `EXPORTED` of them; 404 where there are none."""
    return csv_answer(request, _there(request, name)[1].rows(), "paths.csv")


@require_safe
@says_what_is_down
def paths_of_two_svg(request: HttpRequest, name: str) -> HttpResponse:
    """Return the drawing as a file of its own, with its colours in it; 404 where there are no paths."""
    base, found = _there(request, name)
    drawn = render_to_string("search/paths_between.svg", {"drawing": sketch(found, _wordings(base))})
    answer = HttpResponse(drawn, content_type="image/svg+xml; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="paths.svg"'
    return answer


def _there(request: HttpRequest, name: str) -> tuple[KnowledgeBase, PathsBetween]:
    base, _, _, found = _asked(request, name)
    if found is None or not found.layers:
        raise Http404("There are no paths to download: choose two entities that paths lead between.")
    return base, found


def _wordings(base: KnowledgeBase) -> Relations:
    return base.active_release.snapshot.schema.wordings if base.active_release else {}


def _asked(request: HttpRequest, name: str) -> tuple[KnowledgeBase, MeantNode, MeantNode, PathsBetween | None]:
    base = find_knowledge_base(request, name)
    release: Release | None = base.active_release
    if release is None:
        raise Http404(f"“{name}” has no active release.")
    asked = request.GET
    start = meant(release, asked.get("from", ""), asked.get("from_id", ""))
    end = meant(release, asked.get("to", ""), asked.get("to_id", ""))
    if not (start.id and end.id):
        return base, start, end, None
    return base, start, end, paths_between(
        release, start.id, end.id, _hops(request), [_group(text) for text in _several(request, "open")],
        _several(request, "without"),
    )  # fmt: skip


def _hops(request: HttpRequest) -> int:
    asked = request.GET.get("hops", "")
    return int(asked) if asked in {str(hops) for hops in range(1, MOST_HOPS + 1)} else MOST_HOPS


def _several(request: HttpRequest, name: str) -> list[str]:
    return request.GET.getlist(name)[:MOST_CHANGES]


def _counted(label: str, count: int) -> str:
    kind = words(label)
    return kind if count == 1 else plural(kind)


def _group(text: str) -> Group:
    at, _, label = text.partition(".")
    return (int(at) if at.isdecimal() and len(at) < 3 else 0, label)


def _page(request: HttpRequest, last: int) -> int:
    asked = request.GET.get("page", "1")
    return min(max(int(asked) if asked.isdecimal() and len(asked) < 7 else 1, 1), max(last, 1))


def _shown(request: HttpRequest, found: PathsBetween, base: KnowledgeBase) -> dict[str, Any]:
    """Return what the page shows of paths: drawing, list, the members of a group, and the addresses of all changes."""
    relations = _wordings(base)
    drawing = sketch(found, relations)
    other = partial(_query, request, page=None, list=None)
    listing = _group(request.GET.get("list", ""))
    shown: dict[str, Any] = {"drawing": drawing, "query": other()}
    changes = [("open", text) for text in _several(request, "open")]
    changes += [("without", text) for text in _several(request, "without")]
    size, members = found.members(listing, 0, 0)
    last = -(-(size if size else min(found.count, EXPORTED)) // (GROUP_PAGE if size else LISTED))
    page = _page(request, last)
    if size:
        members = found.members(listing, (page - 1) * GROUP_PAGE, GROUP_PAGE)[1]
        shown |= {"members": members, "size": size, "member_type": type_words(listing[1])}
    else:
        shown["paths"] = [show_path(path, relations) for path in found.paths((page - 1) * LISTED, LISTED)]
        shown["first"] = (page - 1) * LISTED
    groups = [
        {
            "type": box.type, "count": box.count, "things": _counted(box.type, box.count),
            "rest": box.rest, "open": _query(request, page=None, add=_open(box)),
            "list": _query(request, page=None, list=f"{box.group[0]}.{box.group[1]}"),
        }
        for layer in found.layers[1:-1] for box in layer if box.node is None and box.group is not None
    ]  # fmt: skip
    return shown | {
        "groups": groups,
        "page": page,
        "last": last,
        "previous": _query(request, page=page - 1),
        "next": _query(request, page=page + 1),
        "boxes": [(box, other(add=_open(box))) for box in (drawing.boxes if drawing else ())],
        "leave_out": [(kind, other(add=("without", kind))) for kind in found.types_between],
        "undo": other(drop=changes[-1]) if changes else "",
        "changed": changes,
        "start_over": other(open=None, without=None),
    }  # fmt: skip


def _open(box: Any) -> tuple[str, str] | None:
    return ("open", f"{box.group[0]}.{box.group[1]}") if box.group and not getattr(box, "id", "") else None


def _query(
    request: HttpRequest, add: tuple[str, str] | None = None, drop: tuple[str, str] | None = None, **change: Any
) -> str:
    """Return the query of this page with single values changed (None: gone), and one of several added or dropped."""
    pairs = [
        (name, value)
        for name in ("from", "from_id", "to", "to_id", "hops", "open", "without", "list", "page")
        for value in (_several(request, name) if name in ("open", "without") else request.GET.getlist(name)[-1:])
        if name not in change and (name, value) != drop
    ]
    pairs += [(name, value) for name, value in change.items() if value is not None]
    if add and add not in pairs:
        pairs.append(add)
    return urlencode([(name, str(value)[:600]) for name, value in pairs])
