"""States of the comparison, the status, the trace, the settings of a knowledge base, and the form for signing in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from django.http import HttpRequest

from search.models import KnowledgeBase
from search.services.searches.compare_searches import compare_described
from search.views.gallery.kept_states import WHEN, run
from search.views.gallery.made_up import LONG, RIGHT_TO_LEFT, Made, made_up_box, renamed, search
from search.views.gallery.made_up import shown as made_up_shown
from search.views.shown.comparison import lay_out

Json = dict[str, Any]
Page = tuple[str, Callable[[HttpRequest], Made]]
_FAULT = {"title": "Postgres is not reachable", "detail": "The connection was refused."}


def _by(title: str, keep: slice, **changes: Any) -> Json:
    """Return a search by a pipeline of this title, with some of the made-up results in ranks of their own."""
    told = search(model_use=None, **changes)
    kept = [] if told["status"] != "done" else told["results"][keep]
    told["results"] = [one | {"rank": at + 1} for at, one in enumerate(kept)]
    told["pipeline"] = told["pipeline"] | {"title": title, "name": title.casefold()}
    return told | ({"fusion": None} if not kept else {})


def _compared(*described: Json) -> Callable[[HttpRequest], Made]:
    def made(request: HttpRequest) -> Made:
        comparison = lay_out(compare_described(described), [made_up_shown(one) for one in described])
        box = made_up_box(knowledge_base="products", question=comparison.question)
        return "search/compare.html", {
            "box": box, "comparison": comparison, "chosen": [one.title.casefold() for one in comparison.columns],
            "searches": "",
        }  # fmt: skip

    return made


def _not_compared(request: HttpRequest) -> Made:
    return "search/compare.html", {"box": made_up_box(), "comparison": None, "chosen": ["grasp", "bm25"]}


def _refused(request: HttpRequest) -> Made:
    faults = {"question": ["A question needs at least one word."], "pipeline": ["Choose two to four pipelines."]}
    return "search/compare.html", {"box": made_up_box("?", faults=faults), "comparison": None, "chosen": []}


_ALL, _REST = slice(None), slice(None, None, -1)
COMPARE: Mapping[str, Page] = {
    "asking": ("Nothing asked yet", _not_compared),
    "error": ("A question that cannot be asked", _refused),
    "two": ("Two pipelines", _compared(_by("GRASP", _ALL), _by("BM25", _REST))),
    "four": (
        "Four pipelines",
        _compared(_by("GRASP", _ALL), _by("BM25", _REST), _by("Vectors", slice(1, 3)), _by("HyDE", slice(0, 2))),
    ),
    "running": ("One still runs", _compared(_by("GRASP", _ALL), _by("HyDE", _ALL, status="running", seconds=None))),
    "empty": ("One found nothing", _compared(_by("GRASP", _ALL), _by("BM25", slice(0, 0)))),
    "failed": ("One failed", _compared(_by("GRASP", _ALL), _by("HyDE", _ALL, status="failed", error=_FAULT))),
    "long-words": (
        "Words that do not fit",
        _compared(*(renamed(_by(title, _ALL), LONG) for title in (LONG, "BM25"))),
    ),
    "right-to-left": (
        "From right to left",
        _compared(*(renamed(_by(title, _ALL), RIGHT_TO_LEFT) for title in ("GRASP", "BM25"))),
    ),
}


def _service(name: str, state: str = "ready", reason: str = "") -> dict[str, str]:
    return {"name": name, "state": state, "reason": reason}


def _queue(name: str, waiting: int = 0, host: str = "worker-1") -> dict[str, Any]:
    worker = {"worker": host, "pid": 4711} if host else None
    return {"name": name, "waiting": waiting, "worker": worker, "reason": "" if host else f"no worker for {name}"}


def _status(
    services: Sequence[Mapping[str, str]], queues: Sequence[Mapping[str, Any]]
) -> Callable[[HttpRequest], Made]:
    ready = all(one["state"] != "down" for one in services)
    context = {"services": services, "queues": queues, "ready": ready}
    return lambda _: ("search/status.html", context)


STATUS: Mapping[str, Page] = {
    "ready": (
        "Everything runs",
        _status([_service("Postgres"), _service("Valkey")], [_queue("search", 3), _queue("jobs")]),
    ),
    "degraded": (
        "Something optional is away",
        _status([_service("Postgres"), _service("Neo4j", "degraded", "no answer within 1 s; searches use Postgres")],
                [_queue("search"), _queue("gpu", 2, "")]),
    ),
    "down": (
        "The broker is away",
        _status([_service("Postgres"), _service("Valkey", "down", "Connection refused.")], []),
    ),
    "long-words": ("Words that do not fit", _status([_service(LONG, "down", LONG)], [_queue(LONG, 10_000, LONG)])),
}  # fmt: skip


def _trace(described: Callable[[], Json], output: str = '{\n  "found": 12\n}') -> Callable[[HttpRequest], Made]:
    def made(_: HttpRequest) -> Made:
        shown = made_up_shown(described())
        run_shown = run(1, shown.question, code_version="0.14.0")
        return "search/trace.html", {
            "search": shown, "run": run_shown, "steps": [(step, output) for step in shown.steps],
            "specification": '{\n  "pipeline": "grasp"\n}',
        }  # fmt: skip

    return made


TRACE: Mapping[str, Page] = {
    "many": ("Every step", _trace(search)),
    "empty": ("Nothing recorded", _trace(lambda: search(steps=[], results=[], fusion=None), "")),
    "failed": ("It failed", _trace(lambda: search(status="failed", error=_FAULT | {"stage": "traverse", "errors": []},
                                                  results=[], fusion=None))),
    "long-words": ("Words that do not fit", _trace(lambda: renamed(search(), LONG), LONG)),
}  # fmt: skip


def _type(name: str, count: int, own: Sequence[str] = (), faults: Sequence[str] = ()) -> dict[str, Any]:
    return {"name": name, "key": name, "count": count, "own": own, "aliases": ", ".join(own), "shown": True,
            "answerable": True, "faults": faults}  # fmt: skip


def _settings(types: Sequence[Json], versions: Sequence[Any] = (), **values: Any) -> Callable[[HttpRequest], Made]:
    base = KnowledgeBase(pk=2_000_000_000, name="films", title="Films", domain="movies")
    context = {
        "base": base, "wrong": False, "faults": [], "guidance": "", "guidance_faults": [], "types": types,
        "relations": [_type("DIRECTED_BY", 9_120, ["made by"])], "versions": versions, "longest_guidance": 8000,
        "longest_aliases": 2000,
    }  # fmt: skip
    return lambda _: ("search/settings.html", context | values)


_VERSION = SimpleNamespace(pk=1, version=2, created=WHEN, author="ada")
SETTINGS: Mapping[str, Page] = {
    "many": (
        "Types, relations and versions",
        _settings([_type("film", 61_204, ["movie"]), _type("person", 9)], [_VERSION]),
    ),
    "empty": ("As the bundle has it", _settings([_type("film", 1)])),
    "error": (
        "A wording that is too long",
        _settings([_type("film", 3, ["movie"], ["A wording has at most 80 characters."])], wrong=True),
    ),
    "long-words": ("Words that do not fit", _settings([_type(LONG, 10_000, [LONG])], guidance=LONG)),
}
