"""Which questions may choose anything: those of a test split only measure."""

from __future__ import annotations

from training.data.examples import BadQuestions


def refuse_test(split: str | None, what: str) -> None:
    """Raise BadQuestions where the split is one for testing; `what` begins the sentence, such as "Tuning"."""
    if split and split.strip().casefold().startswith("test"):
        raise BadQuestions(
            [f"{what} on the split {split!r} would spoil what it measures; take questions for validation or training."]
        )
