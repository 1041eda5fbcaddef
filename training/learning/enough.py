"""Whether there are enough questions to learn from: one check for every door, and for the learners themselves.

It loads no model library, so that forms, the API and commands refuse what the work would refuse later.
"""

from __future__ import annotations

from search.domain.errors import Fault

QUESTIONS, SYNTHESISED = "/question_set", "/synthesised"
"""What a fault points at: the questions that people asked, or the number of those that are made of the base."""


def too_few(real: int, synthesised: int, fewest: int, alone: int, *, together: bool = False) -> Fault | None:
    """Return what is missing, or None if there are enough questions.

    `real` questions of people and `synthesised` ones are given. It takes `fewest` real ones, which synthesised ones
    help to reach with `together`, or `alone` synthesised ones where there are no others.
    """
    given = real + synthesised if together and real else real
    if real and given < fewest:
        beside = "" if together or not synthesised else " Synthesised ones beside them do not count."
        return Fault(QUESTIONS, f"There are {given} questions to learn from; it takes {fewest} at least.{beside}")
    if not real and synthesised < alone:
        message = f"There are {synthesised} synthesised questions to learn from and no others; it takes {alone}."
        return Fault(SYNTHESISED, message)
    return None
