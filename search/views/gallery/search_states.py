"""States of a page of results, of the reasons for a place, of all answers, and of the page with the question box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from django.http import HttpRequest

from search.models import KnowledgeBase, Release, Snapshot
from search.services.searches.plan_answers import ListedAnswer, PlanAnswers
from search.views.form import SearchBox
from search.views.gallery.made_up import LONG, RIGHT_TO_LEFT, Made, made_up_box, renamed, search
from search.views.gallery.made_up import shown as made_up_shown
from search.views.shown.facets import ShownFacet, ShownFacets, ShownFacetValue
from search.views.shown.why import show_why

Json = dict[str, Any]
Page = tuple[str, Callable[[HttpRequest], Made]]
MANY = 20
"""Results of a page, as many as a search returns unless it is told otherwise."""
ALL = 10_000


def _results(
    described: Callable[[], Json], facets: ShownFacets | None = None, **changes: Any
) -> Callable[[HttpRequest], Made]:
    def made(request: HttpRequest) -> Made:
        shown = made_up_shown(described(), **changes)
        box = made_up_box(knowledge_base=shown.knowledge_base, question=shown.question)
        context = {
            "search": shown, "box": box, "longest": box.longest, "may_cancel": True, "changeable": False, "marks": {},
            "collected": {}, "missing": [], "facets": facets, "thread_known": set(),
        }  # fmt: skip
        return "search/results.html", context

    return made


_FACETS = ShownFacets((
    ShownFacet("genre", (ShownFacetValue("drama", 12, "add {}"), ShownFacetValue(LONG, 7, "add {}")), 3),
    ShownFacet("made in", (ShownFacetValue("1950 – 1952", 9, "add {}"),), 0),
))  # fmt: skip


def _answer(count: int, **more: Any) -> Json:
    return {"kind": "list", "count": count, "value": count, "complete": True, "unbound": [], **more}


def _computed() -> Json:
    one = {"function": "mean", "field": "weight_g", "value": 412.5, "nodes": 4}
    return _answer(5, kind="aggregate", aggregate=one, field="weight_g")


def _done(count: int, **changes: Any) -> Json:
    """Return a search with `count` results: those of the made-up search, repeated, every rank its own."""
    described = search(**changes)
    first = described["results"]
    described["results"] = [
        first[at % len(first)] | {"rank": at + 1, "answers": at < count - 1 or count == 1} for at in range(count)
    ]
    return described


def _ranked() -> Json:
    described = _done(MANY, answer=_answer(MANY - 1, text="glassblowing"))
    return described | {"fusion": described["fusion"] | {"probability": 0.48}}


def _none() -> Json:
    empty = search(results=[], fusion=None, answer=_answer(0))
    return empty | {"plans": [plan | {"found": 0} for plan in empty["plans"]]}


def _degraded() -> Json:
    described = search()
    broken = {
        "status": "degraded",
        "detail": "vectors: the encoder did not answer within 2 s; words alone were searched",
    }
    steps = [step | broken if step["name"] == "retrieve" else step for step in described["steps"]]
    return described | {"steps": steps, "answer": _answer(2)}


def _running(done: int) -> Json:
    described = search(status="running", seconds=None, results=[], fusion=None)
    return described | {"steps": described["steps"][:done]} | ({} if done else {"plans": [], "plan_index": None})


_FAULT = {
    "title": "Postgres is not reachable", "detail": "The connection was refused.", "stage": "traverse",
    "errors": [{"pointer": "/question", "message": "Ask again in a moment."}],
}  # fmt: skip

_MEANINGS = [
    {"sentence": f"{name} that Ingunn Aas designed", "plan": search()["plan"], "plan_index": at}
    for at, name in enumerate(("product", LONG))
]

SEARCHES: Mapping[str, Page] = {
    "queued": ("Nothing has begun yet", _results(lambda: _running(0) | {"status": "queued"})),
    "waiting": (
        "No worker takes it",
        _results(lambda: _running(0) | {"status": "queued", "waiting": "No search worker is running."}),
    ),
    "running": ("The plan is there, the results are not", _results(lambda: _running(3))),
    "empty": ("Nothing found", _results(_none)),
    "one": ("One result", _results(lambda: _done(1, answer=_answer(1)))),
    "many": ("Twenty results", _results(lambda: _done(MANY, answer=_answer(MANY - 1)))),
    "ranked": ("A trained ranker says how sure it is of the first result", _results(_ranked)),
    "asked-back": ("Two meanings to choose from", _results(lambda: _done(4, answer=_answer(3)), clarify=_MEANINGS)),
    "nothing-answers": ("Nothing answers, some are close", _results(lambda: _done(8, answer=_answer(0)))),
    "facets": ("What narrows the answers down", _results(lambda: _done(MANY, answer=_answer(MANY)), _FACETS)),
    "facets-awaited": (
        "Facets that take long, and cannot be counted here",
        _results(lambda: _done(MANY, answer=_answer(MANY)), ShownFacets(awaited=True)),
    ),
    "ten-thousand": ("10,000 answers, the first of them here", _results(lambda: _done(MANY, answer=_answer(ALL)))),
    "count": (
        "A number as the answer",
        _results(lambda: _done(6, answer=_answer(5, kind="number", value=5), question="How many flasks are there?")),
    ),
    "computed": ("A value computed from the answers", _results(lambda: _done(6, answer=_computed()))),
    "degraded": ("A part did not work", _results(_degraded)),
    "cancelled": ("Somebody pressed Cancel", _results(lambda: _done(2, status="cancelled"))),
    "failed": ("The search failed", _results(lambda: search(status="failed", error=_FAULT, results=[], fusion=None))),
    "long-words": ("Words that do not fit", _results(lambda: renamed(_done(4, answer=_answer(3)), LONG))),
    "right-to-left": ("From right to left", _results(lambda: renamed(_done(4, answer=_answer(3)), RIGHT_TO_LEFT))),
}


def _why(described: Callable[[], Json], rank: int = 1) -> Callable[[HttpRequest], Made]:
    def made(_: HttpRequest) -> Made:
        told = described()
        shown = made_up_shown(told)
        result = shown.results[rank - 1]
        return "search/why.html", {"search": shown, "result": result, "why": show_why(told, rank, {})}

    return made


WHY: Mapping[str, Page] = {
    "one": ("Two lists and two paths", _why(search)),
    "empty": ("No path leads to it", _why(search, 3)),
    "long-words": ("Words that do not fit", _why(lambda: renamed(search(), LONG))),
    "right-to-left": ("From right to left", _why(lambda: renamed(search(), RIGHT_TO_LEFT))),
}


def _listed(count: int, name: str = "Sval Flask", reason: str = "") -> Callable[[HttpRequest], Made]:
    def made(_: HttpRequest) -> Made:
        keys = np.arange(count, dtype=np.int32)
        found = PlanAnswers(keys=keys, complete=True, reason=reason)
        nodes = [SimpleNamespace(id=f"f{at}", name=f"{name} {at + 1}", type="product") for at in range(min(count, 50))]
        listed = [(ListedAnswer(at + 1, node, None), "") for at, node in enumerate(nodes)]  # type: ignore[arg-type]
        shown = made_up_shown(search(answer=_answer(count)))
        run = SimpleNamespace(pk=shown.id, question=shown.question, knowledge_base_name=shown.knowledge_base)
        last = max(1, -(-count // 50))
        return "search/answers.html", {
            "run": run, "search": shown, "found": found, "listed": listed, "page": 1, "last": last,
        }  # fmt: skip

    return made


ANSWERS: Mapping[str, Page] = {
    "empty": ("The answers are not known", _listed(0, reason="The release that was searched has been deleted.")),
    "one": ("One answer", _listed(1)),
    "ten-thousand": ("10,000 answers in pages", _listed(ALL)),
    "long-words": ("Words that do not fit", _listed(3, LONG)),
    "right-to-left": ("From right to left", _listed(3, RIGHT_TO_LEFT)),
}


def _base(name: str, title: str, about: str, nodes: int, *examples: str) -> KnowledgeBase:
    base = KnowledgeBase(name=name, title=title, description=about, examples=list(examples))
    snapshot = Snapshot(knowledge_base=base, nodes=nodes, edges=3 * nodes)
    base.active_release = Release(knowledge_base=base, number=1, snapshot=snapshot)
    return base


_FILMS = _base("films", "Films", "Films, their people, and what they won.", 61_204, "Who directed “Amber Road”?")
_PAPERS = _base("papers", "Papers", "Papers, authors, venues and what cites what.", 10_812, "What does Ada Holm cite?")


def _home(*bases: KnowledgeBase, faults: Mapping[str, list[str]] | None = None, question: str = "") -> Page:
    def made(request: HttpRequest) -> Made:
        pipelines = made_up_box().pipelines
        box = SearchBox(bases, pipelines, "films" if bases else "", question, "grasp", faults=dict(faults or {}))
        return "search/home.html", {"box": box, "recent": [], "plan": ""}

    return "", made


HOMES: Mapping[str, Page] = {
    "empty": ("No knowledge base yet", _home()[1]),
    "one": ("One knowledge base", _home(_FILMS)[1]),
    "many": ("Several", _home(_FILMS, _PAPERS, _base("c", "Products", "Tents, flasks, stoves.", 281))[1]),
    "error": (
        "A question that cannot be asked",
        _home(_FILMS, question="?", faults={"question": ["A question needs at least one word."]})[1],
    ),
    "long-words": ("Words that do not fit", _home(_base("l", LONG, f"{LONG} {LONG}", 7, f"Who made {LONG}?"))[1]),
    "right-to-left": ("From right to left", _home(_base("r", RIGHT_TO_LEFT, RIGHT_TO_LEFT, 7, RIGHT_TO_LEFT))[1]),
}
