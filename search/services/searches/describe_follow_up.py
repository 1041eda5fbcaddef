"""describe_follow_up: how a search that follows another one was read, and what it kept and changed of its plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from search.domain.follow_up import Followed
from search.domain.payloads import FollowUpRead, PlanEntry
from search.domain.plan.changes import PlanChange, plan_changes
from search.models import SearchRun
from search.plan_words import (
    Relations,
    asked_words,
    exclusion_words,
    filter_words,
    hop_words,
    order_words,
    variables_of,
)
from search.text import words

Json = Mapping[str, Any]
CHANGED, ANEW = "changed", "anew"
"""How a follow-up was read: as changes of the plan before, or as a question of its own."""


def describe_follow_up(run: SearchRun, read: FollowUpRead | None, shown: PlanEntry | None) -> dict[str, Any] | None:
    """Return how the search was read as a follow-up, None if it follows no search.

    `thread` are the questions before, the first one first. `reading` is null until the words were read. `read_as` is
    the wording that text retrieval read. `changes` are the parts of the plan before and of the shown plan; they are
    empty if the words were read as a question of their own, or if one of both searches has no plan.
    """
    if run.follows is None or not run.followed:
        return None
    followed = Followed.from_json(run.followed)
    reading = _reading(run, read, shown)
    before = followed.plan
    changes = (
        plan_changes(before, shown.plan) if reading == CHANGED and before is not None and shown is not None else ()
    )
    relations = run.release.snapshot.schema.wordings if run.release is not None else {}
    return {
        "thread": [one.to_json() for one in followed.thread],
        "reading": reading,
        "read_as": read.wording if read else None,
        "note": _release_note(run, followed),
        "changes": [_described(change, before, shown, relations) for change in changes],
    }


def _reading(run: SearchRun, read: FollowUpRead | None, shown: PlanEntry | None) -> str | None:
    if shown is not None:
        return CHANGED if shown.source in ("follow-up", "user") else ANEW
    return None if read is None else ANEW if read.anew >= 0.5 else CHANGED


def _release_note(run: SearchRun, followed: Followed) -> str:
    """Return a sentence if the search before was asked of another release, else an empty text."""
    if not followed.release or followed.release == run.release_name:
        return ""
    return f"The search before was asked of {followed.release}; this one was asked of {run.release_name}."


def _described(change: PlanChange, before: Any, shown: Any, relations: Relations) -> dict[str, Any]:
    """Return a change as JSON: the pointers, and the part in words as it is now (`text`) and as it was (`before`)."""
    now, then = shown.plan.to_json(), before.to_json()
    after_text = part_words(now, change.part, change.at, relations) if change.at else ""
    before_text = part_words(then, change.part, change.was, relations) if change.was else ""
    return {
        "kind": change.kind,
        "part": change.part,
        "at": change.at,
        "was": change.was,
        "text": after_text or before_text,
        "before": before_text if change.kind == "changed" else "",
    }


def _inside(data: Any, key: str) -> Any:
    return data[int(key)] if isinstance(data, list) else data[key]


def part_words(plan: Json, part: str, at: str, relations: Relations | None = None) -> str:
    """Return the part of a plan at a JSON pointer in words."""
    value: Any = reduce(_inside, at.split("/")[1:], plan)
    if part == "target":
        return " or ".join(words(label) for label in value["labels"]) or "anything"
    if part == "anchor":
        return str(value["text"] or ", ".join(value.get("ids", ())[:3]))
    if part == "hop":
        return hop_words(value, relations)
    if part == "filter":
        return filter_words(value, relations=relations)
    if part == "exclude":
        return f"not {exclusion_words(value, variables_of(plan), relations)}"
    if part == "order":
        return order_words(value, relations)
    return ", ".join(asked_words(plan)) if part == "ask" else str(value)
