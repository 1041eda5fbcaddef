"""What a follow-up kept and changed, as chips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

MARKS: Mapping[str, str] = {"kept": "kept", "added": "added", "removed": "taken out", "changed": "changed"}
"""The word beside a chip, by the kind of its change."""
PARTS: Mapping[str, str] = {
    "target": "answers", "anchor": "entity", "hop": "relation", "filter": "condition", "exclude": "exclusion",
    "order": "order", "ask": "asked", "text": "about",
}  # fmt: skip
"""The word above a chip, by the part of the plan."""


@dataclass(frozen=True, slots=True)
class ChangeChip:
    """A part of the plan that was kept, added, taken out or changed; `before` is what it was before it was changed."""

    kind: str
    mark: str
    part: str
    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class ShownFollowUp:
    """How a follow-up was read.

    `reading` is `changed`, `anew` or empty before it was read. `thread` are the questions before (id, question), the
    first one first. `note` says that another release was asked.
    """

    reading: str
    thread: tuple[tuple[str, str], ...]
    chips: tuple[ChangeChip, ...] = ()
    note: str = ""

    @property
    def changes(self) -> int:
        """The number of parts that are not as they were."""
        return sum(chip.kind != "kept" for chip in self.chips)


def show_follow_up(search: Json) -> ShownFollowUp | None:
    """Return how a described search was read as a follow-up, None if it follows no search."""
    told = search.get("follow_up")
    if not told:
        return None
    entities = {change["kind"] for change in told["changes"] if change["part"] == "anchor"}
    return ShownFollowUp(
        told["reading"] or "",
        tuple((one["id"], one["question"]) for one in told["thread"]),
        tuple(_chip(change) for change in told["changes"] if _says_something(change, entities)),
        told["note"],
    )


def _chip(change: Json) -> ChangeChip:
    kind = change["kind"]
    return ChangeChip(kind, MARKS[kind], PARTS[change["part"]], change["text"], change["before"])


def _says_something(change: Json, entities: set[str]) -> bool:
    """Whether a change deserves a chip: relations come and go with their entities, so they get one only alone."""
    return change["part"] != "hop" or (change["kind"] != "kept" and change["kind"] not in entities)
