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
from search.models import Artifact, BackupRun, Job, KnowledgeBase, PipelineVersion, Release, Snapshot
from search.services.promote_result import made_by

LINK = '<a class="text-primary-600 underline dark:text-primary-500" href="{}">{}</a>'
ACTIVE = "active"


def result_rows(result: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return the plain values of a result by name; tables and reports in it have pages of their own."""
    rows = []
    for name, value in (result or {}).items():
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {text_of(inner)}" for key, inner in value.items() if _plain(inner))
        if not isinstance(value, list) and value not in ("", None):
            rows.append((name.replace("_", " "), text_of(value)))
    return rows


def linked_rows(job: Job) -> list[tuple[str, str | SafeString]]:
    """Return `result_rows`, with links where a value names something that has a page.

    Whether what it made is active is told as it is now, because it may have changed since the job ended.
    """
    result = job.result if isinstance(job.result, dict) else {}
    addresses = _addresses(result)
    made = made_by(job)
    rows: list[tuple[str, str | SafeString]] = []
    for name, shown in result_rows({key: value for key, value in result.items() if key != ACTIVE}):
        address = addresses.get(name.replace(" ", "_"))
        rows.append((name, format_html(LINK, address, shown) if address else shown))
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
class TrainedPart:
    """A part of a training of everything: whether it is used, its gains with interval, the reason, and a comparison."""

    name: str
    on: str
    hits: str
    mrr: str
    reason: str
    compared: str


def trained_parts(result: Any) -> list[TrainedPart]:
    """Return the parts that the result of a training of everything reports; none for other results."""
    parts = result.get("parts") if isinstance(result, Mapping) else None
    return [_trained_part(part) for part in parts or () if isinstance(part, Mapping) and "switched_on" in part]


def _trained_part(part: Mapping[str, Any]) -> TrainedPart:
    found = {one["metric"]: one for one in part.get("comparisons") or ()}
    before, after = _uuid(part.get("evaluation_before")), _uuid(part.get("evaluation"))
    # The page is training's, as the result is.
    compared = f"{reverse('evaluations-compare')}?{urlencode({'a': before, 'b': after})}" if before and after else ""
    return TrainedPart(
        str(part["part"]), "yes" if part["switched_on"] else "no", _gain(found.get("H@1")), _gain(found.get("MRR")),
        str(part["reason"]), compared,
    )  # fmt: skip


def _gain(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "–"
    low, high = one["interval"]
    return f"{one['difference']:+.2f} ({low:+.2f} to {high:+.2f}, p {one['p']:.3g})"


def promotion(job: Job) -> dict[str, str] | None:
    """Return address and text of the button that activates what the job made; None if there is nothing to activate."""
    made = made_by(job)
    if made is None or made.active:
        return None
    return {"address": reverse("admin:search_job_promote", args=[job.pk]), "text": f"Promote: use {made.name}"}


def _plain(value: Any) -> bool:
    return not isinstance(value, Mapping)


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
