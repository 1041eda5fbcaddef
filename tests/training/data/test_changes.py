"""What changed between two versions is told by question."""

from __future__ import annotations

from dataclasses import replace

from training.data.changes import changes_between
from training.data.examples import Example

ONE, TWO, THREE = (Example(name, f"Who {name}?", ("a", "b"), "train") for name in ("1", "2", "3"))


def test_added_removed_and_changed_questions_are_told_apart() -> None:
    new = Example("4", "Who else?", ("c",))
    asked = replace(TWO, text="Who 2, then?", answers=("b", "c"), split="val")
    changes = changes_between([ONE, TWO, THREE], [new, asked, ONE])
    assert changes.added == (new,)
    assert changes.removed == (THREE,)
    (changed,) = changes.changed
    assert changed.parts == ("text", "answers", "split")
    assert (changed.answers_added, changed.answers_removed) == (["c"], ["a"])
    assert changes.same == 1


def test_the_order_of_questions_and_answers_is_no_change() -> None:
    changes = changes_between([ONE, TWO], [TWO, replace(ONE, answers=("b", "a"))])
    assert (changes.added, changes.removed, changes.changed, changes.same) == ((), (), (), 2)
