"""A whole search as a page shows it, at any moment of its life."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.views.shown.plans import ShownPlan, show_plan
from search.views.shown.progress import ShownStep, show_steps
from search.views.shown.results import ShownResult, show_results

Json = Mapping[str, Any]

UNFINISHED = ("queued", "running")
RECOVERY = "recover"
"""Steps of this role say, each in a sentence, what was changed about a plan that found nothing."""


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """What ran in the graph for one plan."""

    plan: int
    text: str


@dataclass(frozen=True, slots=True)
class ShownReading:
    """Results that another plan than the one shown put where they stand: their ranks, and that plan."""

    plan: ShownPlan
    ranks: tuple[int, ...]

    @property
    def said(self) -> str:
        """The ranks as the start of a sentence: `Results 3 and 5 come`."""
        if len(self.ranks) == 1:
            return f"Result {self.ranks[0]} comes"
        return f"Results {', '.join(map(str, self.ranks[:-1]))} and {self.ranks[-1]} come"


@dataclass(frozen=True, slots=True)
class ShownFusion:
    """How the lists were added up."""

    method: str
    k: float
    weights: tuple[tuple[str, float], ...]
    bucket: str
    risk: str
    leads: bool = False
    candidates: int = 0
    """Candidates behind the top of the list that chose the bucket."""


@dataclass(frozen=True)
class ShownSearch:
    """A described search ready to print; `waiting` says why nobody takes it, empty where somebody does.

    `plan` is the plan that put the first result where it stands, `readings` the results that other plans put there.
    """

    id: str
    state: str
    question: str
    knowledge_base: str
    release: str
    pipeline: str
    pipeline_title: str
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
    plan: ShownPlan | None = None
    readings: tuple[ShownReading, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether the page has to go on looking."""
        return self.state in UNFINISHED

    @property
    def recovered(self) -> bool:
        """Whether a changed plan found what no plan found as it was."""
        tried = [step.status for step in self.steps if step.role == RECOVERY]
        return bool(tried) and tried[-1] == "ok"

    @property
    def nearest_only(self) -> bool:
        """Whether nothing of the question was recognised, so that what is shown is merely nearest to its text."""
        planned = bool(self.plans) and not self.recovery and not self.plans[0].given
        return planned and self.state == "done" and bool(self.results) and not any(p.walks for p in self.plans)

    @property
    def alternatives(self) -> tuple[ShownPlan, ...]:
        """The other plans, most probable first."""
        return tuple(plan for plan in self.plans if plan is not self.plan)

    @property
    def read_otherwise(self) -> int:
        """How many results another plan than the one shown put where they stand."""
        return sum(len(reading.ranks) for reading in self.readings)

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
    plans = tuple(show_plan(entry, index, linked) for index, entry in enumerate(search["plans"]))
    first = search["plan_index"]
    queries = [ShownQuery(q["plan_index"], q["query"]) for q in graph.get("queries", ()) if q["query"]]
    return ShownSearch(
        id=search["id"],
        state=search["status"],
        question=search["question"],
        knowledge_base=search["knowledge_base"],
        release=search["release"] or "",
        pipeline=search["pipeline"]["name"],
        pipeline_title=search["pipeline"]["title"],
        version=search["pipeline"]["version"],
        milliseconds=None if search["seconds"] is None else 1000 * search["seconds"],
        degraded=tuple(
            {"stage": step["title"], "reason": step["detail"]}
            for step in search["steps"]
            if step["status"] in ("degraded", "failed") and step["role"] != RECOVERY
        ),
        error=search["error"] or {},
        plans=plans,
        queries=tuple(sorted(queries, key=lambda query: query.plan != first)),
        backend=graph.get("backend", ""),
        candidates=graph.get("candidates", 0),
        truncated=graph.get("truncated", False),
        fusion=_fusion(search["fusion"]),
        steps=show_steps(search),
        results=show_results(search),
        waiting=search.get("waiting") or "",
        changes=search.get("changes", 0),
        recovery=tuple(step["detail"] for step in search["steps"] if step["role"] == RECOVERY and step["detail"]),
        plan=plans[first] if first is not None else None,
        readings=tuple(
            ShownReading(plans[other["plan_index"]], tuple(other["ranks"])) for other in search["other_plans"]
        ),
    )


def _fusion(fusion: Json | None) -> ShownFusion | None:
    if not fusion:
        return None
    weights = tuple((fusion["titles"][name], weight) for name, weight in sorted(fusion["weights"].items()))
    candidates = max((trust["n_cand"] for trust in fusion.get("trust", {}).values()), default=0)
    return ShownFusion(
        fusion["method"], fusion["k"], weights, fusion["bucket"], fusion["risk"], fusion.get("leads", False), candidates
    )


def pretty(output: Any) -> str:
    """Return a value as indented JSON."""
    return json.dumps(output, indent=1, ensure_ascii=False)
