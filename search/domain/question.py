"""The question of a search."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.plan import Plan


@dataclass(frozen=True, slots=True)
class Question:
    """The text of a question, the number `k` of results to explain, and a plan if the caller gives one."""

    text: str
    k: int = 20
    plan: Plan | None = None
