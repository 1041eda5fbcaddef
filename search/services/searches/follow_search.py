"""follow_search: what has happened in a search since somebody last looked, as events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from search import wiring
from search.composition import Pipeline
from search.models import SearchRun, SearchStep
from search.services.searches.describe_search import (
    SHOWN_DEGRADED,
    Outputs,
    describe_fusion,
    describe_graph,
    describe_linked,
    describe_plans,
    describe_search,
    describe_step,
    outputs_of,
)
from search.services.searches.end_abandoned import end_abandoned_search
from search.services.searches.watch_search import ENDED

EVENT_OF_STEP: Mapping[str, str] = {
    "plan": "plan", "link": "linked", "graph": "paths", "recover": "paths", "graph list": "candidates",
    "text list": "candidates", "list": "candidates", "fusion": "fused", "rerank": "reranked",
}  # fmt: skip
"""The event of a step, by its role. What the role `explain` gives comes with `done`."""
SHOWN_ENTRIES = 20
"""Entries of a list that an event shows."""


@dataclass(frozen=True, slots=True)
class SearchEvent:
    """Something that happened: its place in the search, what kind it is, and what a reader needs of it."""

    id: int
    name: str
    data: dict[str, Any]


def follow_search(run_id: UUID, after: int = -1) -> tuple[list[SearchEvent], bool]:
    """Return the events with an id above `after`, in order, and whether the search has ended.

    A finished step's id is its position, and the end comes last: `problem` where the search failed, then `done` with
    the whole search, whatever its status. Raises SearchRun.DoesNotExist once the run has been forgotten.
    """
    run = end_abandoned_search(SearchRun.objects.get(pk=run_id))
    ended = run.status in ENDED
    steps = list(run.steps.all())
    output = outputs_of(steps)
    pipeline = wiring.pipeline_or_none(run.pipeline)
    events = [event for step in steps if (event := _event(step, output, pipeline)) is not None]
    if ended and run.status == SearchRun.Status.FAILED:
        events.append(SearchEvent(len(steps), "problem", {"status": "failed", **(run.error or {})}))
    if ended:
        events.append(SearchEvent(len(steps) + 1, "done", describe_search(run)))
    return [event for event in events if event.id > after], ended


def _event(step: SearchStep, output: Outputs, pipeline: Pipeline | None) -> SearchEvent | None:
    described = describe_step(step, pipeline)
    if step.status in SHOWN_DEGRADED:
        problem = {"title": f"{step.name} {step.status}", "detail": step.detail, "stage": step.name, "step": described}
        return SearchEvent(step.position, "problem", {"status": step.status, **problem})
    kind = EVENT_OF_STEP.get(step.role)
    if kind is None:
        return None
    shown: dict[str, Any] = {"step": described}
    if kind == "plan":
        shown["plans"] = describe_plans(output)
    elif kind == "linked":
        shown["linked"] = describe_linked(output)
    elif kind == "paths":
        shown["graph"] = describe_graph(output)
    elif kind == "candidates":
        shown |= {"list": _list_name(step, pipeline), **_head(step.output)}
    elif kind == "fused":
        shown |= {"fusion": describe_fusion(output, pipeline), **_head((step.output or {}).get("ranking"))}
    return SearchEvent(step.position, kind, shown)


def _list_name(step: SearchStep, pipeline: Pipeline | None) -> str:
    """Return what the fusion calls the list that a step gives: the name under which results show their share."""
    named = {part.name: part.list_name for part in pipeline.flow} if pipeline else {}
    return named.get(step.name, step.name)


def _head(ranking: dict[str, Any] | None) -> dict[str, Any]:
    """Return the first entries of a recorded list, which may be a fusion, and how many it has."""
    found = ranking or {}
    found = found.get("ranking", found)
    return {"total": found.get("total", 0), "ids": (found.get("ids") or [])[:SHOWN_ENTRIES]}
