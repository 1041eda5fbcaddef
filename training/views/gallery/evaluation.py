"""States of evaluations: the list, a report, and the list of questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from search.models import KnowledgeBase
from search.views.gallery.kept_states import paged
from search.views.gallery.made_up import LONG, RIGHT_TO_LEFT
from training.evaluation.lost import LostStage
from training.evaluation.measures import MEASURES
from training.evaluation.published import SETS
from training.models import Evaluation
from training.services.evaluations.outcomes import FOUND
from training.views.evaluations import SORT_WORDINGS
from training.views.shown.report import comparisons_of, measures_of, pipelines_of, slices_of, stages_told

Made = tuple[str, dict[str, Any]]
Page = tuple[str, Callable[[HttpRequest], Made]]
Json = dict[str, Any]
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def _evaluation(number: int = 1, name: str = "films-3", status: str = "done", **values: Any) -> Evaluation:
    base = KnowledgeBase(pk=2_000_000_000, name="films", title="Films")
    return Evaluation(pk=UUID(int=number), knowledge_base=base, release_name=name, status=status, questions=200,
                      split="val", created=WHEN, **values)  # fmt: skip


def _listed(name: str, labels: Sequence[str], status: str = "done") -> Any:
    metrics = {measure: 40.0 + 3 * at for at, measure in enumerate(MEASURES)} if status == "done" else None
    pipelines = [{"label": label, "metrics": metrics} for label in labels]
    one = SimpleNamespace(id=UUID(int=1), release=name, status=status, pipelines=pipelines, split="val", questions=200,
                          question_set=SimpleNamespace(name=f"{name} prizes"))  # fmt: skip
    return _evaluation(name=name), f"{name}: {', '.join(labels)}", one


def _list(*rows: Any, more: int = 0) -> Callable[[HttpRequest], Made]:
    context = {"page": paged([*rows, *range(more)]), "listed": rows, "measures": list(MEASURES), "may_launch": True}
    return lambda _: ("training/evaluations.html", context)


EVALUATIONS: Mapping[str, Page] = {
    "empty": ("None yet", _list()),
    "one": ("One", _list(_listed("films-3", ["grasp"]))),
    "many": (
        "Several pages, one still runs",
        _list(
            _listed("films-3", ["grasp@2", "bm25"], "running"), _listed("films-2", ["grasp", "bm25", "hyde"]), more=60
        ),
    ),
    "long-words": ("Words that do not fit", _list(_listed(LONG, [LONG]))),
    "right-to-left": ("From right to left", _list(_listed(RIGHT_TO_LEFT, [RIGHT_TO_LEFT]))),
}


def _part(at: int) -> Json:
    metrics = dict.fromkeys(MEASURES, 41.5 + 6 * at)
    bins = [{"from": edge / 5, "to": edge / 5 + 0.2, "questions": 30 + 5 * edge, "probability": edge / 5 + 0.1,
             "right": edge / 5 + 0.05, "interval": [edge / 5, edge / 5 + 0.2]} for edge in range(5)]  # fmt: skip
    stages = list(LostStage)
    return {
        "metrics": metrics, "intervals": {name: (value - 4, value + 4) for name, value in metrics.items()},
        "answered": 190, "empty": 9, "errors": at, "cached_model_calls": 12,
        "latency_ms": {"p50": 91.0, "p95": 240.0, "stages": {"plan": {"p50": 17.0}, "graph": {"p50": 31.0}}},
        "lost_at": {stage.value: 20 - 3 * place for place, stage in enumerate(stages[:4])},
        "funnel": {"expected": 310, "stages": [{"title": "in the graph list", "lost": 60, "left": 250},
                                               {"title": "in the top 20", "lost": 40, "left": 210}]},
        "calibration": {"error": 0.06, "bins": bins},
        "sure": {"questions": 80, "wrong": 4, "per_100": 2.0, "interval": (0.8, 4.6)},
        "specification_hash": "9f2c7b1a" * 8, "run_hash": "1590c0f8" * 8, "repeated": {"questions": 20, "same": 20},
        "slices": {"hops": {"1": {"questions": 120, "metrics": metrics, "intervals": {"H@1": (40, 50)}},
                            "2": {"questions": 80, "metrics": metrics, "intervals": {"H@1": (30, 44)}}}},
    }  # fmt: skip


def _report(*labels: str) -> Json:
    compared = [
        {"metric": metric, "a": labels[0], "b": other, "difference": -6.0, "interval": (-9.0, -2.0), "p": 0.001,
         "p_holm": 0.004, "wins": 30, "ties": 150, "losses": 20}
        for metric in MEASURES for other in labels[1:]
    ]  # fmt: skip
    return {"questions": 200, "pipelines": {label: _part(at) for at, label in enumerate(labels)},
            "comparisons": compared, "settings_version": 2, "code_version": "0.14.0", "seed": 7}  # fmt: skip


def _shown(
    *labels: str, name: str = "films-3", question: str = "Who directed “Tarn”?"
) -> Callable[[HttpRequest], Made]:
    def made(_: HttpRequest) -> Made:
        report = _report(*labels)
        pipelines = pipelines_of(report)
        row = SimpleNamespace(rank=None, probability=0.97, question=SimpleNamespace(position=1, text=question))
        context = {
            "evaluation": _evaluation(name=name), "formats": ["run", "qrels", "csv"], "others": [], "labels": labels,
            "report": report, "pipelines": pipelines, "measures": measures_of(report), "slices": slices_of(report),
            "comparisons": comparisons_of(report), "stages": stages_told(pipelines), "first": labels[0], "judged": (),
            "judged_measures": (), "costed": False, "sets": SETS, "published": (), "published_measures": (),
            "funnels": True, "calibrated": True, "sure_wrong": [row], "worst": [(row, "Not in any list")],
        }  # fmt: skip
        return "training/report.html", context

    return made


def _no_report(status: str, reason: str = "") -> Callable[[HttpRequest], Made]:
    context = {"evaluation": _evaluation(status=status, reason=reason), "asked": 120, "due": 400}
    return lambda _: ("training/report.html", context)


REPORTS: Mapping[str, Page] = {
    "running": ("It runs", _no_report("running")),
    "failed": ("It failed", _no_report("failed", "The release was deleted while its questions were asked.")),
    "one": ("One pipeline", _shown("grasp")),
    "many": ("Eight pipelines", _shown("grasp", "bm25", "hyde", "vss", "kar", "af", "rar", "prf")),
    "long-words": ("Words that do not fit", _shown(LONG, "bm25", name=LONG, question=LONG)),
    "right-to-left": ("From right to left", _shown("grasp", "bm25", name=RIGHT_TO_LEFT, question=RIGHT_TO_LEFT)),
}


def _questions(*texts: str, faults: Sequence[str] = ()) -> Callable[[HttpRequest], Made]:
    rows = [
        (SimpleNamespace(rank=at or None, pipeline="grasp", state="answered" if at else "error",
                         error="The time is up.",
                         plan_shape="2 hops, 1 anchor", question=SimpleNamespace(position=at, text=text)),
         "" if at == 1 else "Not in any list")
        for at, text in enumerate(texts)
    ]  # fmt: skip
    context = {
        "evaluation": _evaluation(), "page": paged(rows), "listed": rows, "filters": {}, "faults": faults,
        "labels": ["grasp", "bm25"], "found": list(FOUND), "sorts": SORT_WORDINGS, "stages": list(LostStage),
        "kept": "found=none", "state_names": ["answered", "empty", "error"],
    }  # fmt: skip
    return lambda _: ("training/questions.html", context)


QUESTIONS: Mapping[str, Page] = {
    "empty": ("No question fits", _questions()),
    "many": ("Right, late, failed", _questions("Who wrote “Tarn”?", "Who directed it?", "Which films won a prize?")),
    "error": ("Filters that do not fit", _questions(faults=["There is no pipeline of this name."])),
    "long-words": ("Words that do not fit", _questions(LONG, LONG)),
    "right-to-left": ("From right to left", _questions(RIGHT_TO_LEFT, RIGHT_TO_LEFT)),
}
