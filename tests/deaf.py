"""A stage of searches that never comes back, whatever its limit says."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from tests.search.small import Find

FOR_EVER = "Which film lasts for ever?"


@dataclass(frozen=True)
class Deaf(Find):
    """Text retrieval that does not end for one question."""

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        """Return what `Find` finds."""
        if question.text == FOR_EVER:
            threading.Event().wait()
        return super().__call__(question, limit)
