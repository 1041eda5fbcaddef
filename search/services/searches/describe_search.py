"""describe_search: the one projection of a run to JSON, for API, commands and pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from search.models import SearchRun, SearchStep
from search.services.searches.settle_search import settle_search, why_nobody_takes

SHOWN_DEGRADED = ("degraded", "failed")


def describe_search(run: SearchRun) -> dict[str, Any]:
    """Return a search as every door shows it; what a run has not reached yet is null or empty.

    A run that nobody works on any more is ended first. `waiting` says why nobody has taken a queued one, where a reason
    is known.
    """
    run = settle_search(run)
    steps = list(run.steps.all())
    output = outputs_of(steps)
    plans = describe_plans(output)
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
        "waiting": why_nobody_takes(run),
        "changes": run.changes,
        "degraded": [{"stage": s.name, "reason": s.detail} for s in steps if s.status in SHOWN_DEGRADED],
        "plan": plans[0]["plan"] if plans else None,
        "plans": plans,
        "linked": describe_linked(output),
        "graph": describe_graph(output),
        "fusion": describe_fusion(output),
        "results": output.get("explain") or [],
        "steps": [describe_step(step) for step in steps],
    }


def outputs_of(steps: Iterable[SearchStep]) -> dict[str, Any]:
    """Return what each step gave, by its name; where a plan was changed until it found something, what it found then.

    An entry of `plan` that was changed says so: `given` is the plan as it was, `dropped` what counts as text instead.
    """
    output: dict[str, Any] = {step.name: step.output for step in steps}
    if changed := output.get("recover"):
        index = changed["plan_index"]
        told = {name: changed[name] for name in ("plan", "given", "dropped")}
        output["plan"] = [entry | told if at == index else entry for at, entry in enumerate(output["plan"])]
        output["link"] = [changed["linked"] if at == index else entry for at, entry in enumerate(output["link"])]
        output["traverse"] = [
            changed["traversal"] if entry["plan_index"] == index else entry for entry in output["traverse"]
        ]
    return output


def describe_plans(output: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the list of plans, best first, with how many candidates each found. `output` is each step's, by name."""
    found = {entry["plan_index"]: entry["total"] for entry in output.get("traverse") or []}
    return [plan | {"found": found.get(index, 0)} for index, plan in enumerate(output.get("plan") or [])]


def describe_linked(output: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the bindings of every anchor of every plan."""
    return [entry for linked in output.get("link") or [] for entry in linked]


def describe_graph(output: dict[str, Any]) -> dict[str, Any] | None:
    """Return what ran in the graph and how much it found, None where it has not run."""
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


def describe_fusion(output: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arithmetic of the fusion, None where none has run."""
    fused = output.get("fuse")
    if not fused:
        return None
    return {name: fused[name] for name in ("method", "k", "weights", "bucket", "risk")} | {
        "leads": fused.get("leads", False)
    }


def describe_step(step: SearchStep) -> dict[str, Any]:
    """Return a step without its output."""
    return {
        "name": step.name,
        "backend": step.backend,
        "status": step.status,
        "seconds": step.seconds,
        "detail": step.detail,
        "prompt_fingerprint": step.prompt_fingerprint,
        "tokens": step.tokens,
    }
