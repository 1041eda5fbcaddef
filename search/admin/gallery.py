"""States of the admin's own pages for the gallery: first page, services, a job, and those of its forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from search.admin.charts import quality_charts, search_bars
from search.admin.curves import curves
from search.admin.gallery_backups import BACKUPS
from search.admin.gallery_forms import IMPORT, LAUNCH, REMOVAL
from search.admin.gallery_parts import GIGABYTE, LONG, WHEN, Page, base_of, job_of, page
from search.admin.job_shown import Changed, PartShown
from search.models import Job, SearchRun
from search.services.searches.count_searches import SearchDay
from search.services.upkeep.alerts import Alert
from search.services.upkeep.measure_storage import Disk, Stored
from search.services.upkeep.observe_work import WaitingWork, Worker

_ALERTS = (
    Alert("backups", "now", "No backup for nine days.", "Make one now, and look at why the last one ended.",
          command="manage.py backup"),
    Alert("disk", "soon", "The disk is 91 % full.", "Delete releases that nobody searches.", link="#",
          link_text="Knowledge bases"),
)  # fmt: skip


def _work(*, away: bool = False, workers: Sequence[Worker] = (), jobs: Sequence[Job] = ()) -> dict[str, Any]:
    state, reason = ("down", "Connection refused.") if away else ("ready", "")
    waiting = WaitingWork(3, datetime.now(UTC) - timedelta(minutes=4))
    return {
        "services": [{"name": "Postgres", "state": "ready", "reason": ""},
                     {"name": "Neo4j", "state": "degraded", "reason": "no answer within 1 s; searches use Postgres"},
                     {"name": "Valkey", "state": state, "reason": reason}],
        "all_ready": not away, "broker_away": away, "workers": workers,
        "queues": [{"name": "search", "reason": "", "waiting": WaitingWork(0, None)},
                   {"name": "gpu", "reason": "waiting: no worker for queue gpu", "waiting": waiting}],
        "live_jobs": [{"job": one, "percent": 42, "left": [60, 100], "reason": ""}
                      for one in jobs],
    }  # fmt: skip


def _figures(searches: int) -> list[tuple[str, int]]:
    return [("Knowledge bases", 2), ("Entities to search", 72_016), ("Searches answered in 14 days", searches),
            ("Searches failed", 3 if searches else 0), ("Searches under way", 0)]  # fmt: skip


def _first(**values: Any) -> dict[str, Any]:
    days = [SearchDay(date(2026, 3, day), answered=0) for day in range(1, 15)]
    return {
        "alerts": (), "bases": (), "latest": (), "refused": ([], []), "measured": [], "figures": _figures(0),
        "search_days": days, "search_bars": None, "stored": [Stored("Searches", 0, 0)], "days": 30, "retention": None,
        "disk": Disk(free=55 * GIGABYTE, total=100 * GIGABYTE),
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
        alerts=_ALERTS, bases=[base_of(name), base_of("papers")], latest=runs, figures=_figures(1_310),
        refused=([date(2026, 3, day) for day in range(1, 8)],
                 [{"kind": "A question without words", "numbers": [0, 2, 1, 0, 0, 4, 1]}]),
        measured=quality_charts(quality), search_days=days, search_bars=search_bars(days),
        stored=[Stored("Postgres, all of it", None, 3 * GIGABYTE), Stored("Searches", 18_204, 912_000_000)],
    ) | _work(workers=[worker], jobs=[job_of(knowledge_base_name=name)])  # fmt: skip


DASHBOARD: Mapping[str, Page] = {
    "empty": ("A new site", page("admin/index.html", _first, "Site administration")),
    "many": ("A site at work, with things to do", page("admin/index.html", _busy, "Site administration")),
    "down": ("The broker is away", page("admin/index.html", lambda: _first() | _work(away=True))),
    "long-words": ("Words that do not fit", page("admin/index.html", lambda: _busy(LONG))),
}


def _services(away: bool = False) -> dict[str, Any]:
    rows = [] if away else [{"client": "web", "state": "idle", "count": 7}]
    return _work(away=away) | {"connections": rows}


SERVICES: Mapping[str, Page] = {
    "many": ("Services, workers and queues", page("admin/search/services.html", _services, "Services")),
    "down": ("Postgres and the broker are away", page("admin/search/services.html", lambda: _services(True))),
}


def _followed(state: str, sentence: str, label: str = "info", **values: Any) -> Callable[[], dict[str, Any]]:
    def made() -> dict[str, Any]:
        done = state == "done"
        finished = WHEN + timedelta(minutes=4) if done or state == "failed" else None
        lines = [
            SimpleNamespace(at=WHEN + timedelta(seconds=at), text=f"{at * 1000:,} entities written")
            for at in range(1, 9)
        ]
        return {
            "job": job_of(state, finished=finished), "label": label, "live": False,
            "sentence": sentence, "percent": 100 if done else 42, "left": [60, 100] if state == "running" else None,
            "parts": [PartShown("text index", 100, "61,204 of 61,204", 12.0, "done"),
                      PartShown("vectors", 100 if done else 30, "18,361 of 61,204", 55.0, "running")],
            "judgements": (), "result_tables": (), "heat_maps": "",
            "curves": curves({"loss": [(at, 3 / at) for at in range(1, 40)]}),
            "lines": lines,
            "configuration": [Changed("knowledge base", "films", None), Changed("model", "MiniLM", "E5")],
            "before": job_of("done"), "resources": [("memory", "1.2 GB"), ("device", "cpu")], "result": (),
            "promote": None, "bad_rows": False, "may_launch": True, "may_promote": True, "original": None,
            "subtitle": "films",
        } | values  # fmt: skip

    return made


_JOB = "admin/search/job/page.html"
JOB: Mapping[str, Page] = {
    "queued": ("It waits", page(_JOB, _followed("queued", "Waiting: no worker for queue gpu.",
                                                 parts=(), curves=(), lines=(), before=None))),
    "running": ("It runs", page(_JOB, _followed("running", "Process 4711 on worker-1 works on it."))),
    "done": ("It is done", page(_JOB, _followed("done", "Done in 4 minutes.", "success",
                                                 result=[("nodes", "61,204"), ("release", "films-3")]))),
    "failed": ("It failed", page(_JOB, _followed("failed", "The disk is full: 2 GB are needed, 0.4 GB are free.",
                                                  "danger", bad_rows=True))),
    "long-words": ("Words that do not fit", page(_JOB, _followed("running", LONG, result=[(LONG, LONG)],
                                                                  configuration=[Changed(LONG, LONG, LONG)]))),
}  # fmt: skip
COMPONENTS: Mapping[str, Mapping[str, Page]] = {
    "admin-dashboard": DASHBOARD, "admin-services": SERVICES, "admin-job": JOB, "admin-launch": LAUNCH,
    "admin-import": IMPORT, "admin-removal": REMOVAL, "admin-backups": BACKUPS,
}  # fmt: skip
