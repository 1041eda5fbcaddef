"""describe_job: a job as JSON, the same for API, commands and pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from search.models import Job, JobMetric
from search.services.health import queue_status
from search.services.jobs.kinds import title_of

MOST_POINTS = 500
"""Most points of a series that are returned; of longer ones, evenly spaced points and the last."""
MOST_LINES = 200
"""Lines of the log's tail."""


def describe_job(job: Job) -> dict[str, Any]:
    """Return the whole job: its specification, its state and the reason, progress, metrics, log tail and result."""
    return summary(job) | {
        "specification": job.specification,
        "specification_hash": job.specification_hash,
        "seed": job.seed,
        "code_version": job.code_version,
        "metrics": series(job.metrics.all()),
        "log": log_tail(job),
        "resources": job.resources,
        "result": job.result,
    }


def summary(job: Job, waiting: str | None = None) -> dict[str, Any]:
    """Return a job as lists show it. `waiting` is the reason why nobody takes it, if the caller knows it already."""
    waiting = why_nobody_takes(job) if waiting is None else waiting
    return {
        "id": str(job.pk),
        "kind": job.kind,
        "title": title_of(job.kind),
        "knowledge_base": job.knowledge_base_name or None,
        "release": job.release_name or None,
        "question_set": job.question_set or None,
        "arguments": job.arguments,
        "queue": job.queue,
        "state": job.state,
        "attempt": job.attempt,
        "reason": job.reason or waiting,
        "waiting": waiting,
        "progress": job.progress,
        "worker": {"host": job.worker_host, "process": job.worker_process} if job.worker_process else None,
        "user": job.user.get_username() if job.user else None,
        "origin": job.origin,
        "cancel_requested": job.cancel_requested is not None,
        "cloned_from": str(job.cloned_from_id) if job.cloned_from_id else None,
        "created": _time(job.created),
        "started": _time(job.started),
        "finished": _time(job.finished),
        "heartbeat": _time(job.heartbeat),
        "changes": job.changes,
    }


def why_nobody_takes(job: Job) -> str:
    """Return why a waiting job is not taken, and what helps; an empty string if nothing is known to be wrong."""
    return reasons_of_queues().get(job.queue, "") if job.state == Job.State.QUEUED else ""


def reasons_of_queues() -> dict[str, str]:
    """Return for each queue without a worker what starts one."""
    queues = queue_status()
    found = {
        queue["name"]: f"Waiting: no worker for queue {queue['name']}. `make run` starts one"
        f"{' where there is a GPU' if queue['name'] == 'gpu' else ''}, and so does "
        f"`manage.py worker --queue {queue['name']}`."
        for queue in queues
        if queue["worker"] is None
    }
    return found if queues else dict.fromkeys(("jobs", "gpu"), "Waiting: Valkey does not answer.")


def series(points: Iterable[JobMetric]) -> list[dict[str, Any]]:
    """Return points as `{"name", "step", "value"}`, at most `MOST_POINTS` of each series, in the order of the steps."""
    by_name: dict[str, list[JobMetric]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    thinned: list[dict[str, Any]] = []
    for name, every in by_name.items():
        step = -(-len(every) // MOST_POINTS)
        kept = every[::step] if every[-1] in every[::step] else [*every[::step], every[-1]]
        thinned += [{"name": name, "step": point.step, "value": point.value} for point in kept]
    return thinned


def log_tail(job: Job) -> list[dict[str, Any]]:
    """Return the last lines of the log, the oldest first."""
    newest = list(job.lines.order_by("-pk")[:MOST_LINES])
    return [line_json(line) for line in reversed(newest)]


def line_json(line: Any) -> dict[str, Any]:
    """Return a line of the log as JSON."""
    return {"at": _time(line.at), "attempt": line.attempt, "text": line.text}


def _time(at: Any) -> str | None:
    return at.isoformat() if at else None
