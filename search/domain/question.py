"""What a search is asked."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.plan import Plan


@dataclass(frozen=True, slots=True)
class Question:
    """The text of a question, how many results are to be explained, and a plan where the asker brings one."""

    text: str
    k: int = 20
    plan: Plan | None = None
