"""A job as its page shows it: state in a sentence, parts, curves, log, configuration beside the job before, result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from search.admin.curves import Curve, curves
from search.admin.heat_map import heat_maps_shown, surfaces_of
from search.admin.job_result import judgements, linked_rows, promotion, result_tables
from search.admin.job_values import resource_rows, text_of
from search.domain.run_context import FINAL
from search.glossary import plain_name
from search.models import Job, JobLog, JobMetric
from search.services.jobs.bad_rows import bad_rows_of
from search.services.jobs.describe_job import why_nobody_takes
from search.services.jobs.kinds import unit_of
from search.templatetags.search_text import duration

LINES = 200
"""Newest lines of the log that the page shows."""
MANY_POINTS = 5_000
"""Most points of all series that the page reads."""
LABELS = {"done": "success", "running": "info", "queued": "info", "failed": "danger", "cancelled": "warning"}


@dataclass(frozen=True, slots=True)
class PartShown:
    """One part of the work: its name, percent that is done (None while unknown), counts, seconds, and its state."""

    name: str
    percent: int | None
    counts: str
    seconds: float
    state: str


@dataclass(frozen=True, slots=True)
class Changed:
    """One value of the configuration, and the value of the job before if it was another."""

    name: str
    value: str
    before: str | None


def percent_of(job: Job) -> int:
    """Return the percent of the whole work that is done; a job that is done has 100."""
    if job.state == Job.State.DONE:
        return 100
    share = job.progress.get("share")
    if share is None:
        parts = job.progress.get("parts", [])
        whole = sum(part["weight"] for part in parts)
        share = sum(part["weight"] * _share(part) for part in parts) / whole if whole else 0.0
    return min(99, int(100 * share))


def parts_of(job: Job) -> list[PartShown]:
    """Return the parts in their order."""
    present = job.progress.get("part", "")
    shown = []
    for part in job.progress.get("parts", []):
        finished = part.get("finished") or job.state == Job.State.DONE
        running = part["name"] == present and job.state == Job.State.RUNNING and not finished
        begun = bool(part.get("seconds")) or bool(part["done"])
        known = part["total"] is not None
        shown.append(PartShown(
            part["name"],
            100 if finished else (int(100 * _share(part)) if known else (None if running else 0)),
            _counts(part, unit_of(job.kind, part["name"])),
            part.get("seconds", 0.0),
            "done" if finished else "running" if running else "stopped" if begun else "waiting",
        ))  # fmt: skip
    return shown


def _counts(part: Mapping[str, Any], unit: str | None) -> str:
    """Return what is done of how much, and of what; empty where the counts mean nothing to people."""
    done, total = part["done"], part["total"]
    if unit == "" or not (done or total):
        return ""
    if unit == "bytes":
        return f"{filesizeformat(done)} of {filesizeformat(total)}" if total else filesizeformat(done)
    counted = f"{done:,} of {total:,}" if total else f"{done:,}"
    return f"{counted} {plain_name(unit)}" if unit else counted


def sentence_of(job: Job) -> str:
    """Return the state of a job as a sentence: why it waits, who works on it, or what came of it."""
    if job.cancel_requested and job.state in Job.LIVE:
        return "Its cancellation was requested; it ends within a few seconds."
    if job.state == Job.State.QUEUED:
        return job.reason or _why_it_waits(job)
    if job.state == Job.State.RUNNING:
        if job.lease_until and job.lease_until < timezone.now():
            return "Its process has not been heard of; another worker goes on with it from its last checkpoint."
        attempt = f", attempt {job.attempt}" if job.attempt > 1 else ""
        return f"Process {job.worker_process} on {job.worker_host} works on it{attempt}."
    if job.state == Job.State.DONE:
        took = duration((job.finished - job.started).total_seconds()) if job.finished and job.started else ""
        return f"Done in {took}." if took else "Done."
    return job.reason or f"It {job.get_state_display()}, and nothing says why."


def _why_it_waits(job: Job) -> str:
    """Return a sentence: other jobs go first, or no worker serves its queue, and what starts one."""
    if nobody := why_nobody_takes(job):
        return nobody
    before = Job.objects.filter(queue=job.queue, state=Job.State.QUEUED, created__lt=job.created).count()
    busy = Job.objects.filter(queue=job.queue, state=Job.State.RUNNING).count()
    if before or busy:
        return f"Waiting for its turn on the queue {job.queue}: {busy} running, {before} waiting before it."
    return f"Waiting for a worker of the queue {job.queue} to take it."


def page_of(job: Job) -> dict[str, Any]:
    """Return the template context of the part of the page that changes while the job lives."""
    judged = judgements(job.result)
    return {
        "job": job,
        "label": LABELS[job.state],
        "live": job.state in Job.LIVE,
        "resumable": job.state == Job.State.CANCELLED or (job.state == Job.State.FAILED and not job.notes.get(FINAL)),
        "sentence": sentence_of(job),
        "percent": percent_of(job),
        "left": job.progress.get("seconds_left_range") if job.state == Job.State.RUNNING else None,
        "parts": parts_of(job),
        "judgements": judged,
        "refused": any(not one.on for one in judged),
        "result_tables": result_tables(job.result),
        "heat_maps": heat_maps_shown(surfaces_of(job.result)) if isinstance(job.result, dict) else "",
        "curves": _curves(job),
        "lines": _lines(job),
        "configuration": configuration(job),
        "before": _before(job),
        "resources": resource_rows(job.resources),
        "result": linked_rows(job),
        "promote": promotion(job),
        "bad_rows": job.state not in Job.LIVE and bad_rows_of(job) is not None,
    }


def configuration(job: Job) -> list[Changed]:
    """Return the job's target and arguments, each beside the value of the job of the same kind before it."""
    before = _before(job)
    mine, other = _settings(job), _settings(before) if before else {}
    return [
        Changed(name, text_of(value), None if before is None or other.get(name) == value else text_of(other.get(name)))
        for name, value in mine.items()
    ]


def _settings(job: Job) -> dict[str, Any]:
    named = {"knowledge base": job.knowledge_base_name, "release": job.release_name, "question set": job.question_set,
             "queue": job.queue, "seed": job.seed, "code version": job.code_version}  # fmt: skip
    return {name: value for name, value in named.items() if value != ""} | {
        name.replace("_", " "): value for name, value in job.arguments.items()
    }


def _before(job: Job) -> Job | None:
    same = Job.objects.filter(kind=job.kind, knowledge_base_name=job.knowledge_base_name, created__lt=job.created)
    return same.order_by("-created").first()


def _share(part: Mapping[str, Any]) -> float:
    if part.get("finished"):
        return 1.0
    return min(1.0, part["done"] / part["total"]) if part["total"] else 0.0


def _curves(job: Job) -> list[Curve]:
    series: dict[str, list[tuple[int, float]]] = defaultdict(list)
    points = JobMetric.objects.filter(job=job).order_by("name", "step").values_list("name", "step", "value")
    for name, step, value in points[:MANY_POINTS]:
        series[name].append((step, value))
    return curves(series)


def _lines(job: Job) -> list[JobLog]:
    """Return the newest lines, the newest first: the page draws them from below, so that the newest is in sight."""
    return list(JobLog.objects.filter(job=job).order_by("-id")[:LINES])
