"""What changed between two versions of a question set: questions added, removed, and changed, by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from training.data.examples import Example


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question in both versions with the parts that differ: text, answers, split, slices, grades."""

    before: Example
    after: Example
    parts: tuple[str, ...]

    @property
    def answers_added(self) -> list[str]:
        """The answers that only the later version has."""
        return [answer for answer in self.after.answers if answer not in set(self.before.answers)]

    @property
    def answers_removed(self) -> list[str]:
        """The answers that only the earlier version has."""
        return [answer for answer in self.before.answers if answer not in set(self.after.answers)]


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences of two versions; `same` counts the questions that are equal, whatever their order."""

    added: tuple[Example, ...]
    removed: tuple[Example, ...]
    changed: tuple[ChangedQuestion, ...]
    same: int


def changes_between(before: Sequence[Example], after: Sequence[Example]) -> Changes:
    """Return what was added, removed and changed, each in the order of its version. The order of answers is ignored."""
    old = {example.id: example for example in before}
    new = {example.id: example for example in after}
    pairs = [(old[example.id], example) for example in after if example.id in old]
    changed = tuple(
        ChangedQuestion(one, other, parts) for one, other in pairs if (parts := _different(one, other))
    )  # fmt: skip
    return Changes(
        tuple(example for example in after if example.id not in old),
        tuple(example for example in before if example.id not in new),
        changed,
        len(pairs) - len(changed),
    )


def _different(one: Example, other: Example) -> tuple[str, ...]:
    differs = {
        "text": one.text != other.text,
        "answers": set(one.answers) != set(other.answers),
        "split": one.split != other.split,
        "slices": one.slices != other.slices,
        "grades": one.grades != other.grades,
    }
    return tuple(part for part, yes in differs.items() if yes)
