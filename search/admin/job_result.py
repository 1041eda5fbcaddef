"""The result of a job as rows, with links to what it made; and what of it can be promoted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from search.admin.job_values import text_of
from search.admin.readable import named, readable
from search.models import Artifact, BackupRun, Job, KnowledgeBase, PipelineVersion, Release, Snapshot
from search.services.promote_result import made_by

LINK = '<a class="text-primary-600 underline dark:text-primary-500" href="{}">{}</a>'
ACTIVE = "active"
SECTIONS = ("parts", "surfaces", "question_set", "comparisons", "before", "after", "held_out", "gain", "faults")
"""Values of results that have a section of their own, or that another table tells by kind and column."""
TITLES = {"fault_groups": "Faults by kind and column", "pipelines": "Measures", "table": "What was measured",
          "metrics": "Figures", "seconds": "Seconds by part"}  # fmt: skip


def result_rows(result: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return the plain values of a result by name; `result_tables` has the others."""
    rows = []
    for name, value in (result or {}).items():
        if name == "question_set" and isinstance(value, Mapping):
            value = f"{value.get('name')}@{value.get('version')}"
        if not isinstance(value, Mapping | list | tuple) and value not in ("", None):
            rows.append((name.replace("_", " "), text_of(value)))
    return rows


def result_tables(result: Any) -> list[tuple[str, SafeString | str]]:
    """Return title and table of each value that holds others, except those that have a section or a page."""
    if not isinstance(result, Mapping):
        return []
    shown: dict[str, Any] = {
        name: {label: part.get("metrics") for label, part in value.items()}
        if isinstance(value, Mapping) and name == "pipelines"
        else value
        for name, value in result.items()
        if isinstance(value, Mapping | list) and value and name not in SECTIONS
    }
    if "evaluation" in result and "pipelines" in result:
        # The report of the evaluation has a page with all of it.
        shown = {name: value for name, value in shown.items() if name == "pipelines"}
    if isinstance(metrics := shown.get("metrics"), Mapping):
        shown["metrics"] = {
            name: value for name, value in metrics.items() if name not in ("judged", "comparisons") and value != {}
        }
    return [(_title(name), readable(value)) for name, value in shown.items() if value]


def _title(name: str) -> str:
    return TITLES.get(name, named(name).capitalize())


def linked_rows(job: Job) -> list[tuple[str, str | SafeString]]:
    """Return `result_rows`, with links where a value names something that has a page.

    Whether what it made is active is told as it is now, because it may have changed since the job ended.
    """
    result = job.result if isinstance(job.result, dict) else {}
    addresses = _addresses(result)
    made = made_by(job)
    rows: list[tuple[str, str | SafeString]] = []
    hidden = {ACTIVE, "switched_on", *(("reason",) if judgements(result) else ())}
    for name, shown in result_rows({key: value for key, value in result.items() if key not in hidden}):
        address = addresses.get(name.replace(" ", "_"))
        rows.append((named(name), format_html(LINK, address, shown) if address else shown))
    if made is None and "evaluation" in addresses:
        rows.append(("next", format_html(LINK, addresses["evaluation"], "Read the report")))
    if made is not None:
        rows.append((ACTIVE, f"{made.name}: {'searches use it' if made.active else 'searches do not use it'}"))
        if made.active and isinstance(base := result.get("knowledge_base"), str):
            rows.append(
                ("next", format_html(LINK, f"{reverse('search-home')}?{urlencode({'kb': base})}", "Ask it a question"))
            )
    return rows


@dataclass(frozen=True, slots=True)
class Gained:
    """One measure of a judged change: the difference with its interval, p, and the questions by change."""

    metric: str
    before: str
    after: str
    difference: str
    p: str
    moved: str


@dataclass(frozen=True, slots=True)
class TrainingJudgement:
    """What a change gained or lost on held-out questions, and whether it is used.

    `version` is the pk of the pipeline's version that has it, if that can be switched on.
    """

    name: str
    on: bool
    reason: str
    rows: tuple[Gained, ...]
    compared: str
    version: int | None


def judgements(result: Any) -> list[TrainingJudgement]:
    """Return what a training, a tuning, or each part of a training of everything gained or lost; else []."""
    if not isinstance(result, Mapping):
        return []
    if isinstance(parts := result.get("parts"), list):
        return [_judgement(part, part) for part in parts if isinstance(part, Mapping) and "switched_on" in part]
    metrics = result.get("metrics")
    if isinstance(metrics, Mapping) and isinstance(judged := metrics.get("judged"), Mapping):
        return [_judgement(judged, result)]
    if "decided" in result and isinstance(result.get("held_out"), Mapping):
        figures = {name: result[name].get("metrics", {}) for name in ("before", "held_out")}
        tuned = {**result, "switched_on": result.get("active"), "before": figures["before"],
                 "after": figures["held_out"]}  # fmt: skip
        return [_judgement(tuned, {})]
    return []


def _judgement(told: Mapping[str, Any], around: Mapping[str, Any]) -> TrainingJudgement:
    before, after = _uuid(around.get("evaluation_before")), _uuid(around.get("evaluation"))
    # The page is training's, as the result is.
    compared = f"{reverse('evaluations-compare')}?{urlencode({'a': before, 'b': after})}" if before and after else ""
    figures = told.get("before") or {}, told.get("after") or {}
    rows = tuple(_gained(one, *figures) for one in told.get("comparisons") or ())
    on = bool(told.get("switched_on"))
    version = _whole(told.get("version")) or None
    return TrainingJudgement(str(told.get("part") or ""), on, str(told.get("reason") or ""), rows, compared,
                     None if on else version)  # fmt: skip


def _gained(one: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> Gained:
    metric = str(one["metric"])
    low, high = one["interval"]
    old, new = (f"{side[metric]:.1f}" if metric in side else "–" for side in (before, after))
    return Gained(
        metric, old, new, f"{one['difference']:+.2f} ({low:+.2f} to {high:+.2f})", f"{one['p']:.3g}",
        f"{one['wins']:,} better, {one['ties']:,} the same, {one['losses']:,} worse",
    )  # fmt: skip


def promotion(job: Job) -> dict[str, str] | None:
    """Return address and text of the button that activates what the job made; None if there is nothing to activate."""
    made = made_by(job)
    if made is None or made.active:
        return None
    return {"address": reverse("admin:search_job_promote", args=[job.pk]), "text": f"Promote: use {made.name}"}


def _addresses(result: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of a value in a result → address of the page of the thing that it names, if that exists."""
    base = KnowledgeBase.objects.filter(name=str(result.get("knowledge_base") or "")).first()
    found: dict[str, str] = {}
    if evaluation := _uuid(result.get("evaluation")):
        # The page is training's; without that application there is no such address, and no such result.
        found["evaluation"] = reverse("evaluation-report", args=[evaluation])
        if "what_changed" in result:
            found["what_changed"] = reverse("corrections-changed", args=[evaluation])
    if backup := BackupRun.objects.filter(place=str(result.get("file") or "")).first():
        found["backup"] = reverse("admin:search_backuprun_change", args=[backup.pk])
    if base is None:
        return found
    found["knowledge_base"] = reverse("admin:search_knowledgebase_change", args=[base.pk])
    release = str(result.get("release") or "").removeprefix(f"{base.name}-")
    rows = {
        "release": Release.objects.filter(knowledge_base=base, number=int(release) if release.isdecimal() else 0),
        "pipeline_version": PipelineVersion.objects.filter(
            knowledge_base=base, pipeline=str(result.get("pipeline") or ""), version=_whole(result["pipeline_version"])
        ) if "pipeline_version" in result else PipelineVersion.objects.none(),
        "artifact": Artifact.objects.filter(pk=str(result.get("artifact") or "")),
        "snapshot": Snapshot.objects.filter(knowledge_base=base, pk=_whole(result.get("snapshot"))),
    }  # fmt: skip
    for name, query in rows.items():
        if name in result and (pk := query.values_list("pk", flat=True).first()) is not None:
            found[name] = reverse(f"admin:search_{query.model._meta.model_name}_change", args=[pk])
    return found


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _uuid(value: Any) -> UUID | None:
    try:
        return UUID(str(value)) if value else None
    except ValueError:
        return None
