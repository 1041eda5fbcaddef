"""The question of a search."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.follow_up import Followed, FollowUpReading
from search.domain.plan import Plan

LONGEST_QUESTION = 2_000
"""Most characters of a question. Pages and API refuse a longer one; prompts and plans read no more of it."""


@dataclass(frozen=True, slots=True)
class Question:
    """The text of a question, the number `k` of results to explain, and a plan if the caller gives one.

    `follows` is the search that a follow-up follows, and `reading` how its words were read; `text` is then a wording
    that can be understood without the earlier question.
    """

    text: str
    k: int = 20
    plan: Plan | None = None
    follows: Followed | None = None
    reading: FollowUpReading | None = None
