"""A whole search as a page shows it, at any moment of its life."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.views.shown.plans import ShownPlan, show_plan
from search.views.shown.progress import ShownStep, show_steps
from search.views.shown.results import ShownResult, show_results
from search.views.shown.wording import RECOVERY, list_title

Json = Mapping[str, Any]

UNFINISHED = ("queued", "running")


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """What ran in the graph for one plan."""

    plan: int
    text: str


@dataclass(frozen=True, slots=True)
class ShownFusion:
    """How the lists were added up."""

    method: str
    k: float
    weights: tuple[tuple[str, float], ...]
    bucket: str
    risk: str
    leads: bool = False


@dataclass(frozen=True)
class ShownSearch:
    """A described search ready to print; `waiting` says why nobody takes it, empty where somebody does."""

    id: str
    state: str
    question: str
    knowledge_base: str
    release: str
    pipeline: str
    version: int
    milliseconds: float | None
    degraded: tuple[Json, ...]
    error: Json
    plans: tuple[ShownPlan, ...]
    queries: tuple[ShownQuery, ...]
    backend: str
    candidates: int
    truncated: bool
    fusion: ShownFusion | None
    steps: tuple[ShownStep, ...]
    results: tuple[ShownResult, ...]
    waiting: str = ""
    recovery: tuple[str, ...] = ()
    changes: int = 0

    @property
    def pending(self) -> bool:
        """Whether the page has to go on looking."""
        return self.state in UNFINISHED

    @property
    def recovered(self) -> bool:
        """Whether a changed plan found what no plan found as it was."""
        tried = [step.status for step in self.steps if step.name == RECOVERY]
        return bool(tried) and tried[-1] == "ok"

    @property
    def nearest_only(self) -> bool:
        """Whether nothing of the question was recognised, so that what is shown is merely nearest to its text."""
        planned = bool(self.plans) and not self.recovery and not self.plans[0].given
        return planned and self.state == "done" and bool(self.results) and not any(p.walks for p in self.plans)

    @property
    def plan(self) -> ShownPlan | None:
        """The best plan."""
        return self.plans[0] if self.plans else None

    @property
    def alternatives(self) -> tuple[ShownPlan, ...]:
        """The other plans."""
        return self.plans[1:]

    @property
    def current(self) -> ShownStep | None:
        """The step that is being worked on."""
        return next((step for step in self.steps if step.status == "current"), None)

    @property
    def mark(self) -> str:
        """Changes whenever there is something new to show."""
        return f"{self.state}-{self.changes}-{'alone' if self.waiting else 'attended'}"


def show_search(search: Json) -> ShownSearch:
    """Return a described search for the page."""
    linked, graph = search["linked"], search["graph"] or {}
    return ShownSearch(
        id=search["id"],
        state=search["status"],
        question=search["question"],
        knowledge_base=search["knowledge_base"],
        release=search["release"] or "",
        pipeline=search["pipeline"]["name"],
        version=search["pipeline"]["version"],
        milliseconds=None if search["seconds"] is None else 1000 * search["seconds"],
        degraded=tuple(item for item in search["degraded"] if item["stage"] != RECOVERY),
        error=search["error"] or {},
        plans=tuple(show_plan(entry, index, linked) for index, entry in enumerate(search["plans"])),
        queries=tuple(ShownQuery(q["plan_index"], q["query"]) for q in graph.get("queries", ()) if q["query"]),
        backend=graph.get("backend", ""),
        candidates=graph.get("candidates", 0),
        truncated=graph.get("truncated", False),
        fusion=_fusion(search["fusion"]),
        steps=show_steps(search),
        results=show_results(search),
        waiting=search.get("waiting") or "",
        changes=search.get("changes", 0),
        recovery=tuple(step["detail"] for step in search["steps"] if step["name"] == RECOVERY and step["detail"]),
    )


def _fusion(fusion: Json | None) -> ShownFusion | None:
    if not fusion:
        return None
    weights = tuple((list_title(name), weight) for name, weight in sorted(fusion["weights"].items()))
    return ShownFusion(
        fusion["method"], fusion["k"], weights, fusion["bucket"], fusion["risk"], fusion.get("leads", False)
    )


def pretty(output: Any) -> str:
    """Return a value as indented JSON."""
    return json.dumps(output, indent=1, ensure_ascii=False)
