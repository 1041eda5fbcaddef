"""Which questions may choose anything: those of `train` and, where it is said aloud, of `val`; others only measure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from training.data.examples import BadQuestions, Example

TRAIN, VAL = "train", "val"


def refuse_split(split: str | None, what: str, allowed: Collection[str]) -> None:
    """Raise BadQuestions where a split is none of the allowed ones; `what` begins the sentence, such as "Tuning".

    None stands for a whole file.
    """
    if split is None or split in allowed:
        return
    if split == VAL:
        raise BadQuestions(
            [f"{what} on the split 'val' has to be asked for, by --allow-val: val then reports nothing."]
        )
    message = f"{what} on the split {split!r} would spoil what it measures; only questions of the splits "
    raise BadQuestions([f"{message}{TRAIN!r} and {VAL!r} may be learned or chosen from."])


def refuse_splits(examples: Sequence[Example], what: str, allowed: Collection[str]) -> None:
    """Raise BadQuestions where a question's split is not allowed. Questions of a file without splits are."""
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
    """Return how many questions each split has, in the order of the splits' names; "" for those without one."""
    splits = [example.split for example in examples]
    return {split: splits.count(split) for split in sorted(set(splits))}
