"""The outcome of one question: answered, empty, or error, with everything that the report needs of the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from search.domain.plan import Plan

TEXT_ONLY = "text only"
"""Shape of a plan that leaves the whole question to text."""


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The outcome of one question: ids and scores from best to worst, seconds of the search, or an error message.

    `stages` holds seconds by role of the steps. `probability` is the one that pages show: of the first result being
    right where a ranker has learned to tell it, else of the first plan (None if there is no plan, or if it leaves the
    whole question to text). `plan_shape` describes that plan (`plan_shape`). `cached_calls` counts answers of a
    language model that came from the cache. `run` is the id of the search. `leads` says that pages call the first plan
    almost surely right, None for a pipeline that cannot say so. `model_use` is what the search spent on language models
    (`Budget.to_json`), None if it asked none. `lost_at` is the stage that lost the first answer, empty when it was not
    computed.
    """

    ranking: tuple[tuple[str, float], ...] = ()
    seconds: float = 0.0
    error: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)
    probability: float | None = None
    cached_calls: int = 0
    plan_shape: str = ""
    run: UUID | None = None
    lost_at: str = ""
    leads: bool | None = None
    model_use: Mapping[str, Any] | None = None

    @property
    def state(self) -> str:
        """`answered`, `empty` or `error`."""
        return "error" if self.error else "answered" if self.ranking else "empty"


def plan_shape(plan: Plan) -> str:
    """Return the shape of a plan as words, such as `2 hops, 1 anchor, filter`; `text only` for a plan without any.

    Plans of one shape are one slice of a report, so names, relations and values take no part.
    """
    parts = [
        *(["filter"] if plan.filters else []), *(["exclusion"] if plan.exclude else []),
        *(["order"] if plan.order is not None else []), *([plan.ask] if plan.ask != "which" else []),
    ]  # fmt: skip
    if plan.hops:
        return ", ".join([_count(len(plan.hops), "hop"), _count(len(plan.anchors), "anchor"), *parts])
    named = any(anchor.ids or anchor.match_mode != "doc" for anchor in plan.anchors)
    return ", ".join(["entity itself" if named else "nodes of a type" if parts else TEXT_ONLY, *parts])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
