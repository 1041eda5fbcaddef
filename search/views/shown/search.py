"""A whole search as a page shows it, in any state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from search.models import SearchRun
from search.plan_words import Relations
from search.sentences.reading import reading_words
from search.services.searches.describe_search import describe_search
from search.services.searches.learned_from import knows_only_made_questions
from search.views.shown.answer import ShownAnswer, show_answer
from search.views.shown.expansion import ShownExpansion, show_expansion
from search.views.shown.follow_up import ShownFollowUp, show_follow_up
from search.views.shown.model_use import ShownModelUse, show_model_use
from search.views.shown.plans import ShownPlan, show_plan
from search.views.shown.progress import ShownStep, show_steps, without_model
from search.views.shown.results import ShownResult, show_results
from search.views.shown.wording import RISK_NAMES

Json = Mapping[str, Any]

UNFINISHED = ("queued", "running")
NEAR = 5
"""Results that are no answers which are shown without being asked for."""
RECOVERY = "recover"
"""Role of the steps that say, each in one sentence, how a plan that found nothing was changed."""


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """The query that ran in the graph for one plan."""

    plan: int
    engine: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownReading:
    """The ranks of the results that owe their rank to another plan than the one shown, and that plan."""

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
    surely: bool = False
    candidates: int = 0
    """`n_cand`: the number of candidates behind the top of the graph's list, which chose the bucket."""

    @property
    def risk_name(self) -> str:
        """How far the graph is trusted, in one word."""
        return RISK_NAMES.get(self.risk, self.risk)


@dataclass(frozen=True)
class ShownSearch:
    """A described search ready to print; `waiting` says why no worker takes it, and is empty otherwise.

    `plan` is the most probable plan that found something; `readings` are the results that owe it to other plans.
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
    answer: ShownAnswer | None = None
    understood: Json | None = None
    meaning: str = ""
    """What the shown plan asks for, in one phrase."""
    follow_up: ShownFollowUp | None = None
    model_use: ShownModelUse | None = None
    expansion: ShownExpansion | None = None
    searchable: bool = True
    """Whether its knowledge base still answers: without one, entities have no page and no plan can be asked again."""
    only_stored: bool = False
    """Whether the reader gets what the search stored and nothing else: neither reasons nor judgments (`visible`)."""
    plain: tuple[str, ...] = ()
    """Titles of the steps that worked without a language model because the site has none."""

    @property
    def pending(self) -> bool:
        """Whether the search is unfinished, so that the page has to keep asking for changes."""
        return self.state in UNFINISHED

    @property
    def recovered(self) -> bool:
        """Whether recovery succeeded: a changed plan found results after no unchanged plan did."""
        tried = [step.status for step in self.steps if step.role == RECOVERY]
        return bool(tried) and tried[-1] == "ok"

    @property
    def answers(self) -> tuple[ShownResult, ...]:
        """The results that answer the question, or may answer it."""
        return tuple(one for one in self.results if one.answers)

    @property
    def near(self) -> tuple[ShownResult, ...]:
        """The first of the other results; none beside a number, a yes or a no, which they cannot explain."""
        return tuple(one for one in self.results if not one.answers)[: self._near_shown]

    @property
    def nearer(self) -> tuple[ShownResult, ...]:
        """The rest of them, which are shown on request."""
        return tuple(one for one in self.results if not one.answers)[self._near_shown :]

    @property
    def _near_shown(self) -> int:
        return 0 if self.answer is not None and self.answer.single else NEAR

    @property
    def nearest_only(self) -> bool:
        """Whether no plan queries the graph, so that the results are only the nearest to the text."""
        return (
            not self.recovery and self.state == "done" and bool(self.results) and not any(p.walks for p in self.plans)
        )

    @property
    def alternatives(self) -> tuple[ShownPlan, ...]:
        """The other plans, most probable first."""
        return tuple(plan for plan in self.plans if plan is not self.plan)

    @property
    def read_otherwise(self) -> int:
        """The number of results that owe their rank to another plan than the one shown."""
        return sum(len(reading.ranks) for reading in self.readings)

    @property
    def current(self) -> ShownStep | None:
        """The step that is running, or None."""
        return next((step for step in self.steps if step.status == "current"), None)

    @property
    def mark(self) -> str:
        """A text that changes whenever the page has something new to show."""
        return f"{self.state}-{self.changes}-{'alone' if self.waiting else 'attended'}"


def show_run(run: SearchRun) -> ShownSearch:
    """Return a search as the values that its page prints, with the wordings of its release's schema."""
    return show_described(run, describe_search(run))


def show_described(run: SearchRun, search: Json) -> ShownSearch:
    """Return the same from a search that has been described already."""
    if run.release is None:
        base = run.knowledge_base
        searchable = base is not None and base.active_release_id is not None
        shown = replace(show_search(search), searchable=searchable, only_stored=run.only_stored)
    else:
        shown = show_search(search, relations_of(run))
    if shown.answer is None or shown.answer.right is None or not knows_only_made_questions(run.specification):
        return shown
    return replace(shown, answer=replace(shown.answer, of_made=True))


def relations_of(run: SearchRun) -> Relations:
    """Return the wordings of the searched release, none if it has been deleted."""
    return run.release.snapshot.schema.wordings if run.release is not None else {}


def show_search(search: Json, relations: Relations | None = None) -> ShownSearch:
    """Return a described search as the values that the page prints.

    `relations` are those of the schema, for their wordings.
    """
    linked, graph = search["linked"], search["graph"] or {}
    plans = tuple(show_plan(entry, index, linked, relations) for index, entry in enumerate(search["plans"]))
    first = search["plan_index"]
    queries = [ShownQuery(q["plan_index"], q["backend"], q["query"]) for q in graph.get("queries", ()) if q["query"]]
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
            if step["status"] in ("degraded", "failed") and step["role"] != RECOVERY and not without_model(step)
        ),
        plain=tuple(step["title"] for step in search["steps"] if without_model(step)),
        error=search["error"] or {},
        plans=plans,
        queries=tuple(sorted(queries, key=lambda query: query.plan != first)),
        candidates=graph.get("candidates", 0),
        truncated=graph.get("truncated", False),
        fusion=_fusion(search["fusion"]),
        steps=show_steps(search),
        results=show_results(search, relations),
        answer=show_answer(search),
        understood=search["understood"],
        meaning=reading_words(search["plan"], relations or {}) if search["plan"] else "",
        waiting=search.get("waiting") or "",
        model_use=show_model_use(search.get("model_use")),
        changes=search.get("changes", 0),
        recovery=tuple(step["detail"] for step in search["steps"] if step["role"] == RECOVERY and step["detail"]),
        plan=plans[first] if first is not None else None,
        readings=tuple(
            ShownReading(plans[other["plan_index"]], tuple(other["ranks"])) for other in search["other_plans"]
        ),
        follow_up=show_follow_up(search),
        expansion=show_expansion(search),
    )


def _fusion(fusion: Json | None) -> ShownFusion | None:
    if not fusion:
        return None
    weights = tuple((fusion["titles"][name], weight) for name, weight in sorted(fusion["weights"].items()))
    candidates = max((trust["n_cand"] for trust in fusion.get("trust", {}).values()), default=0)
    return ShownFusion(
        fusion["method"], fusion["k"], weights, fusion["bucket"], fusion["risk"], fusion.get("leads", False),
        fusion.get("surely", False), candidates,
    )  # fmt: skip


def pretty(output: Any) -> str:
    """Return a value as indented JSON."""
    return json.dumps(output, indent=1, ensure_ascii=False)
