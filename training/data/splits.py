"""Rules of splits: training uses `train`, and `val` only on explicit request; other splits are for measuring."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from training.data.examples import BadQuestions, Example

TRAIN, VAL = "train", "val"


def refuse_split(split: str | None, what: str, allowed: Collection[str]) -> None:
    """Raise BadQuestions when a split is not allowed; `what` begins the message, such as "Tuning".

    A `split` of None stands for a file without splits.
    """
    if split is None or split in allowed:
        return
    if split == VAL:
        raise BadQuestions(
            [f"{what} on the split 'val' needs --allow-val; figures on val then say nothing about what was learned."]
        )
    message = f"{what} on the split {split!r} would make its figures worthless; only questions of the splits "
    raise BadQuestions([f"{message}{TRAIN!r} and {VAL!r} may be used for learning and choosing."])


def refuse_splits(examples: Sequence[Example], what: str, allowed: Collection[str]) -> None:
    """Raise BadQuestions when a question's split is not allowed. A file without splits is allowed."""
    splits = {example.split for example in examples}
    if splits == {""}:
        return
    for split in sorted(splits - {""}):
        refuse_split(split, what, allowed)
    if "" in splits:
        first = next(example for example in examples if not example.split)
        message = f"{what} takes questions of a split, and question {first.id!r} has none while others have one."
        raise BadQuestions([message])


def counts(examples: Sequence[Example]) -> dict[str, int]:
    """Return the number of questions of each split, sorted by name; "" stands for questions without one."""
    splits = [example.split for example in examples]
    return {split: splits.count(split) for split in sorted(set(splits))}
