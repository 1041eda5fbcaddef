"""States of the admin's own pages for the gallery: first page, services, a job, launching one, and an import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest

from search.admin.charts import quality_charts, search_bars
from search.admin.curves import curves
from search.admin.import_forms import ImportForm, PlaceForm
from search.admin.import_mapping_form import form_of
from search.admin.import_shown import KINDS
from search.admin.job_form import LaunchForm
from search.admin.job_shown import Changed, PartShown
from search.admin.schema_drawing import drawing_of
from search.domain.errors import Fault
from search.models import Job, KnowledgeBase, Release, SearchRun, Snapshot, Upload
from search.services.jobs.kinds import describe_kinds, title_of
from search.services.searches.count_searches import SearchDay
from search.services.upkeep.alerts import Alert
from search.services.upkeep.measure_storage import Disk, Stored
from search.services.upkeep.observe_work import Waiting, Worker

Made = tuple[str, dict[str, Any]]
Page = tuple[str, Callable[[HttpRequest], Made]]
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
"""A word without a place to break, longer than a phone is wide."""
_ID = UUID(int=1)
_GIGABYTE = 1 << 30


def _page(template: str, make: Callable[[], Mapping[str, Any]], title: str = "") -> Callable[[HttpRequest], Made]:
    """Return a function that makes a page of the admin: what its frame needs, and the made-up values."""

    def made(request: HttpRequest) -> Made:
        return template, admin.site.each_context(request) | {"title": title} | dict(make())

    return made


def _base(name: str) -> KnowledgeBase:
    base = KnowledgeBase(pk=2_000_000_000, name=name, title=name)
    snapshot = Snapshot(knowledge_base=base, nodes=61_204, edges=190_311)
    base.active_release = Release(knowledge_base=base, number=3, snapshot=snapshot)
    return base


def _job(state: str = "running", **values: Any) -> Job:
    given: dict[str, Any] = {
        "pk": _ID, "kind": "index", "knowledge_base_name": "films", "state": state, "queue": "jobs", "attempt": 1,
        "created": WHEN, "started": WHEN, "worker_host": "worker-1", "worker_process": 4711,
        "progress": {"share": 0.42, "seconds_left": 71}, "arguments": {},
    }  # fmt: skip
    return Job(**given | values)


_ALERTS = (
    Alert("backups", "now", "No backup for nine days.", "Make one now, and look at why the last one ended.",
          command="manage.py backup"),
    Alert("disk", "soon", "The disk is 91 % full.", "Delete releases that nobody searches.", link="#",
          link_text="Knowledge bases"),
)  # fmt: skip


def _work(*, away: bool = False, workers: Sequence[Worker] = (), jobs: Sequence[Job] = ()) -> dict[str, Any]:
    state, reason = ("down", "Connection refused.") if away else ("ready", "")
    waiting = Waiting(3, datetime.now(UTC) - timedelta(minutes=4))
    return {
        "services": [{"name": "Postgres", "state": "ready", "reason": ""},
                     {"name": "Neo4j", "state": "degraded", "reason": "no answer within 1 s; searches use Postgres"},
                     {"name": "Valkey", "state": state, "reason": reason}],
        "all_ready": not away, "broker_away": away, "workers": workers,
        "queues": [{"name": "search", "reason": "", "waiting": Waiting(0, None)},
                   {"name": "gpu", "reason": "waiting: no worker for queue gpu", "waiting": waiting}],
        "live_jobs": [{"job": one, "title": title_of(one.kind), "percent": 42, "seconds_left": 71, "reason": ""}
                      for one in jobs],
    }  # fmt: skip


def _figures(searches: int) -> list[tuple[str, int]]:
    return [("Knowledge bases", 2), ("Nodes that can be searched", 72_016), ("Searches answered in 14 days", searches),
            ("Searches failed", 3 if searches else 0), ("Searches under way", 0)]  # fmt: skip


def _first(**values: Any) -> dict[str, Any]:
    days = [SearchDay(date(2026, 3, day), answered=0) for day in range(1, 15)]
    return {
        "alerts": (), "bases": (), "latest": (), "refused": ([], []), "measured": [], "figures": _figures(0),
        "search_days": days, "search_bars": None, "stored": [Stored("Searches", 0, 0)], "days": 30, "retention": None,
        "disk": Disk(free=55 * _GIGABYTE, total=100 * _GIGABYTE),
    } | _work() | values  # fmt: skip


def _busy(name: str = "films") -> dict[str, Any]:
    days = [SearchDay(date(2026, 3, day), answered=90 + 37 * day % 50, failed=day % 3) for day in range(1, 15)]
    quality = [
        {"knowledge_base": name, "question_set": "prizes", "split": "val", "questions": 200, "pipeline": pipeline,
         "at": WHEN + timedelta(days=day), "evaluation": str(UUID(int=day + 1)), "value": 51.0 + day + 4 * place,
         "measure": "H@1"}
        for day in range(6) for place, pipeline in enumerate(("bm25@0", "grasp@2"))
    ]  # fmt: skip
    worker = Worker("search", "search@worker-1", 4711, "worker-1", "cpu", (), 2)
    runs = [SearchRun(pk=UUID(int=at + 1), question=name if at else "Who directed “Amber Road”?", status="done",
                      knowledge_base_name=name, pipeline="grasp", seconds=0.12, created=WHEN)
            for at in range(5)]  # fmt: skip
    return _first(
        alerts=_ALERTS, bases=[_base(name), _base("papers")], latest=runs, figures=_figures(1_310),
        refused=([date(2026, 3, day) for day in range(1, 8)],
                 [{"kind": "A question without words", "numbers": [0, 2, 1, 0, 0, 4, 1]}]),
        measured=quality_charts(quality), search_days=days, search_bars=search_bars(days),
        stored=[Stored("Postgres, all of it", None, 3 * _GIGABYTE), Stored("Searches", 18_204, 912_000_000)],
    ) | _work(workers=[worker], jobs=[_job(knowledge_base_name=name)])  # fmt: skip


DASHBOARD: Mapping[str, Page] = {
    "empty": ("A new site", _page("admin/index.html", _first, "Site administration")),
    "many": ("A site at work, with things to do", _page("admin/index.html", _busy, "Site administration")),
    "down": ("The broker is away", _page("admin/index.html", lambda: _first() | _work(away=True))),
    "long-words": ("Words that do not fit", _page("admin/index.html", lambda: _busy(LONG))),
}


def _services(away: bool = False) -> dict[str, Any]:
    rows = [] if away else [{"client": "web", "state": "idle", "count": 7}]
    return _work(away=away) | {"connections": rows}


SERVICES: Mapping[str, Page] = {
    "many": ("Services, workers and queues", _page("admin/search/services.html", _services, "Services")),
    "down": ("Postgres and the broker are away", _page("admin/search/services.html", lambda: _services(True))),
}


def _followed(state: str, sentence: str, label: str = "info", **values: Any) -> Callable[[], dict[str, Any]]:
    def made() -> dict[str, Any]:
        done = state == "done"
        finished = WHEN + timedelta(minutes=4) if done or state == "failed" else None
        lines = [
            SimpleNamespace(at=WHEN + timedelta(seconds=at), text=f"{at * 1000:,} nodes written") for at in range(1, 9)
        ]
        return {
            "job": _job(state, finished=finished), "title_of_kind": title_of("index"), "label": label, "live": False,
            "sentence": sentence, "percent": 100 if done else 42, "seconds_left": 71 if state == "running" else None,
            "parts": [PartShown("text index", 100, "61,204 of 61,204", 12.0, "done"),
                      PartShown("vectors", 100 if done else 30, "18,361 of 61,204", 55.0, "running")],
            "trained_parts": (), "heat_maps": "", "curves": curves({"loss": [(at, 3 / at) for at in range(1, 40)]}),
            "lines": lines,
            "configuration": [Changed("knowledge base", "films", None), Changed("model", "MiniLM", "E5")],
            "before": _job("done"), "resources": [("memory", "1.2 GB"), ("device", "cpu")], "result": (),
            "promote": None, "bad_rows": False, "may_launch": True, "may_promote": True, "original": None,
            "subtitle": "films",
        } | values  # fmt: skip

    return made


_JOB = "admin/search/job/page.html"
JOB: Mapping[str, Page] = {
    "queued": ("It waits", _page(_JOB, _followed("queued", "Waiting: no worker for queue gpu.",
                                                 parts=(), curves=(), lines=(), before=None))),
    "running": ("It runs", _page(_JOB, _followed("running", "Process 4711 on worker-1 works on it."))),
    "done": ("It is done", _page(_JOB, _followed("done", "Done in 4 minutes.", "success",
                                                 result=[("nodes", "61,204"), ("release", "films-3")]))),
    "failed": ("It failed", _page(_JOB, _followed("failed", "The disk is full: 2 GB are needed, 0.4 GB are free.",
                                                  "danger", bad_rows=True))),
    "long-words": ("Words that do not fit", _page(_JOB, _followed("running", LONG, result=[(LONG, LONG)],
                                                                  configuration=[Changed(LONG, LONG, LONG)]))),
}  # fmt: skip
_LAUNCH = "admin/search/job/launch.html"


def _launching(given: Mapping[str, str] | None) -> dict[str, Any]:
    form = LaunchForm("evaluate", given)
    for name in ("knowledge_base", "question_set"):
        if name in form.fields:
            form.fields[name].choices = [("films", "Films")]  # type: ignore[attr-defined]
    about = next(one for one in describe_kinds() if one["kind"] == "evaluate")
    return {"form": form, "about": about, "title": f"Launch: {about['title']}"}


LAUNCH: Mapping[str, Page] = {
    "many": ("Which kind", _page(_LAUNCH, lambda: {"kinds": describe_kinds()}, "Launch a job")),
    "one": ("One kind", _page(_LAUNCH, lambda: _launching(None))),
    "error": ("Sent without its question set", _page(_LAUNCH, lambda: _launching({}))),
}
_UPLOAD = Upload(pk=_ID, state="receiving", title="films.zip", created=WHEN)
_ROWS = [{"id": "f1", "title": "Amber Road", "director": "p1"}, {"id": "f2", "title": "Winter Light", "director": "p2"}]


def _preview(name: str = "title", **values: Any) -> dict[str, Any]:
    columns = [{"name": one, "because": why, "examples": [row.get(one, name) for row in _ROWS]}
               for one, why in (("id", "all its values differ"), (name, "its name says so"),
                                ("director", "its values are ids of persons.csv"))]  # fmt: skip
    return {
        "kind": "tables", "why": "", "problem": "", "complete": True, "bad_rows": 2, "mapping": None,
        "files": [{"path": f"{name}.csv", "role": "nodes", "rows": 61_204, "because": "each row has an id of its own",
                   "columns": columns, "first_rows": _ROWS}],
        "faults": [{"file": f"{name}.csv", "row": 17, "message": "The id p9 is not in persons.csv."}], "remarks": [],
        "schema": {
            "node_types": [{"name": "film", "count": 61_204, "fields": [{"name": name, "kind": "text"}]},
                           {"name": "person", "count": 9_120, "fields": []}],
            "relation_types": [{"source": "film", "relation": "DIRECTED_BY", "target": "person", "count": 70_001}],
        },
    } | values  # fmt: skip


def _mapping(name: str = "title", faults: Sequence[Fault] = ()) -> dict[str, Any]:
    preview = _preview(name)
    columns = {"id": {"use": "id"}, name: {"use": "name"}, "director": {"use": "edge", "relation": "DIRECTED_BY"}}
    mapping = {"name": "films", "files": [{"path": f"{name}.csv", "role": "nodes", "type": "film", "columns": columns}]}
    return {
        "step": 2,
        "upload": _UPLOAD,
        "preview": preview,
        "form": form_of(preview, mapping, faults),
        "faults": faults,
    }


def _check(**values: Any) -> dict[str, Any]:
    preview = _preview(**values)
    schema = preview["schema"]
    files = [{"path": one["path"], "role": "nodes", "rows": one["rows"], "names": [c["name"] for c in one["columns"]],
              "first": [list(row.values()) for row in one["first_rows"]]} for one in preview["files"]]  # fmt: skip
    return {
        "step": 3, "upload": _UPLOAD, "form": ImportForm(initial={"name": "films"}), "there": None, "preview": preview,
        "kind": KINDS[preview["kind"]], "drawing": drawing_of(schema), "node_types": schema["node_types"],
        "relations": schema["relation_types"], "seconds": 93.0, "files": files, "shortages": [],
        "needs": SimpleNamespace(disk=2 * _GIGABYTE, memory=_GIGABYTE), "available_memory": 6 * _GIGABYTE,
    }  # fmt: skip


def _start(**values: Any) -> dict[str, Any]:
    begun = SimpleNamespace(name="films.zip", state="not received completely", received=3 << 20, size=9 << 20,
                            upload=SimpleNamespace(pk=_ID, created=WHEN, user="ada"))  # fmt: skip
    return {"step": 1, "form": PlaceForm(), "fault": "", "unfinished": [begun], "upload": None, "chunk": 0,
            "plain_limit": 8, "most": 2000, "files": [], "missing": ""} | values  # fmt: skip


_IMPORT = "admin/search/import"
_TITLE = "Import a knowledge base"
_FAULT = Fault("/mapping/files/0/columns/director/relation", "A column of edges needs a relation.")
IMPORT: Mapping[str, Page] = {
    "start": ("Choose a source; one was begun before", _page(f"{_IMPORT}/start.html", _start, _TITLE)),
    "error": ("Nothing was taken", _page(f"{_IMPORT}/start.html", lambda: _start(fault="Choose at least one file.",
                                                                                unfinished=[]), _TITLE)),
    "mapping": ("What the columns are", _page(f"{_IMPORT}/mapping.html", _mapping, _TITLE)),
    "mapping-error": ("A column lacks its relation", _page(f"{_IMPORT}/mapping.html", lambda: _mapping(faults=[_FAULT]),
                                                           _TITLE)),
    "mapping-long": ("Words that do not fit", _page(f"{_IMPORT}/mapping.html", lambda: _mapping(LONG), _TITLE)),
    "check": ("What it would make", _page(f"{_IMPORT}/check.html", _check, _TITLE)),
    "check-error": ("It cannot be imported", _page(
        f"{_IMPORT}/check.html", lambda: _check(problem="No file holds nodes.", bad_rows=0, faults=[]), _TITLE)),
}  # fmt: skip
COMPONENTS: Mapping[str, Mapping[str, Page]] = {
    "admin-dashboard": DASHBOARD, "admin-services": SERVICES, "admin-job": JOB, "admin-launch": LAUNCH,
    "admin-import": IMPORT,
}  # fmt: skip
