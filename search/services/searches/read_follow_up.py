"""read_follow_up: read the words of a question that follows another search, before its pipeline runs."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from search.domain.errors import StageError
from search.domain.question import Question
from search.domain.trace import Trace
from search.stages.plan.follow_up.read import FollowUp, together
from search.wiring import Tools

SHARE = 0.3
"""Largest part, in (0, 1), of a search's time that the reading of a follow-up may take."""
NEEDED = ("mentions", "adjacency", "nodes", "graph", "columns", "values")
"""The tools, by their names in the settings, that a reading needs."""


def read_follow_up(question: Question, tools: Tools, trace: Trace) -> Question:
    """Return the question with the reading of its words, as a step of the trace; unchanged if it follows no search.

    A question that brings its own plan is not read either: the plan says what is meant. If the words cannot be read,
    the question before and the new words are asked together, and the trace says why.
    """
    followed = question.follows
    if followed is None or question.plan is not None:
        return question
    both = replace(question, text=together(followed.wording, question.text))
    missing = [name for name in NEEDED if name not in settings.GRASP_TOOLS]
    if missing:
        why = f"This site has no tool {missing[0]!r}; the question before and the new words are asked together."
        trace.skip("follow up", "follow up", why)
        return both
    follow_up = FollowUp(
        tools.mentions, tools.adjacency, tools.nodes, tools.encoder, tools.schema, tools.graph, tools.columns,
        tools.values,
    )  # fmt: skip
    try:
        reading = trace.step("follow up", "follow up", follow_up, question, trace.limit.share(SHARE))
    except StageError as error:
        trace.degrade(f"{error.reason}; the question before and the new words are asked together")
        return both
    return replace(question, text=reading.wording, reading=reading)
