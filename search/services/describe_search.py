"""describe_search: the one projection of a run to JSON, for API, commands and pages."""

from __future__ import annotations

from typing import Any

from search.models import SearchRun, SearchStep

SHOWN_DEGRADED = ("degraded", "failed")


def describe_search(run: SearchRun) -> dict[str, Any]:
    """Return a search as INTERFACES describes it; what a run has not reached yet is null or empty."""
    steps = list(run.steps.all())
    output = {step.name: step.output for step in steps}
    plans = _plans(output)
    return {
        "id": str(run.pk),
        "status": run.status,
        "question": run.question,
        "knowledge_base": run.knowledge_base_name,
        "release": run.release_name or None,
        "pipeline": {"name": run.pipeline, "version": run.pipeline_number, "specification": run.specification},
        "k": run.k,
        "seconds": run.seconds,
        "created": run.created.isoformat(),
        "error": run.error,
        "degraded": [{"stage": s.name, "reason": s.detail} for s in steps if s.status in SHOWN_DEGRADED],
        "plan": plans[0]["plan"] if plans else None,
        "plans": plans,
        "linked": [entry for linked in output.get("link") or [] for entry in linked],
        "graph": _graph(output),
        "fusion": _fusion(output),
        "results": output.get("explain") or [],
        "steps": [_step(step) for step in steps],
    }


def _plans(output: dict[str, Any]) -> list[dict[str, Any]]:
    found = {entry["plan_index"]: entry["total"] for entry in output.get("traverse") or []}
    return [plan | {"found": found.get(index, 0)} for index, plan in enumerate(output.get("plan") or [])]


def _graph(output: dict[str, Any]) -> dict[str, Any] | None:
    traversed, merged = output.get("traverse"), output.get("rescore")
    if not traversed:
        return None
    return {
        "backend": traversed[0]["backend"],
        "query": traversed[0]["query"],
        "queries": [{"plan_index": entry["plan_index"], "query": entry["query"]} for entry in traversed],
        "candidates": merged["n_cand"] if merged else 0,
        "truncated": any(entry["truncated"] for entry in traversed),
    }


def _fusion(output: dict[str, Any]) -> dict[str, Any] | None:
    fused = output.get("fuse")
    if not fused:
        return None
    return {name: fused[name] for name in ("method", "k", "weights", "bucket", "risk")}


def _step(step: SearchStep) -> dict[str, Any]:
    return {
        "name": step.name,
        "backend": step.backend,
        "status": step.status,
        "seconds": step.seconds,
        "detail": step.detail,
    }
