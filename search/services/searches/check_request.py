"""Checks of the values in a search request: its question, its k and its plan."""

from __future__ import annotations

import unicodedata

from search.domain.errors import Fault, InvalidRequest, PlanInvalid
from search.domain.plan import Plan
from search.domain.question import LONGEST_QUESTION
from search.models import Release
from search.services.searches.storable import storable_text

MAX_K = 100
"""Most results of a search."""
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Unicode categories of invisible characters: controls, formats, spaces. A question of only these is empty."""


class SearchRejected(InvalidRequest):
    """The request cannot be run. No `SearchRun` is saved for it, but it is counted."""


def check_question(question: object) -> list[Fault]:
    """Return the faults of a question: a text that has visible characters and is not too long."""
    if not isinstance(question, str):
        return [Fault("/question", "The question is a string.")]
    if len(question) > LONGEST_QUESTION:
        message = f"The question has {len(question):,} characters; {LONGEST_QUESTION:,} are the most."
        return [Fault("/question", message)]
    if "\x00" in question:
        return [Fault("/question", "The question contains a NUL character; remove it.")]
    if all(unicodedata.category(character) in INVISIBLE_CATEGORIES for character in question):
        return [Fault("/question", "The question is empty; ask something in words.")]
    return []


def check_k(k: object) -> list[Fault]:
    """Return the faults of k: a whole number from 1 to `MAX_K`."""
    if not 1 <= whole(k) <= MAX_K:
        return [Fault("/k", f"k is how many results are shown: a whole number from 1 to {MAX_K}, not {shown(k)}.")]
    return []


def check_given_plan(plan: object, release: Release) -> list[Fault]:
    """Return the faults of a plan given as JSON, by the schema of the release; pointers begin with `/plan`."""
    try:
        Plan.parse(plan, release.snapshot.schema)
    except PlanInvalid as error:
        return [fault.below("/plan") for fault in error.faults]
    return []


def whole(value: object) -> int:
    """Return `value` if it is a whole number, else -1."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def shown(value: object) -> str:
    """Return a value as text for a message, cut after 80 characters."""
    text = repr(value)
    return storable_text(text if len(text) <= 80 else f"{text[:80]}…")
