"""Ask every question of a pipeline and keep what came back: answered, empty, or error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from training.data.examples import Example


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """What one question got: ids and scores from best to worst, the seconds of the search, or an error's sentence."""

    ranking: tuple[tuple[str, float], ...] = ()
    seconds: float = 0.0
    error: str = ""


Ask = Callable[[Example], QuestionOutcome]
Progress = Callable[[int, int], None]


def run(examples: Sequence[Example], ask: Ask, progress: Progress | None = None) -> dict[str, QuestionOutcome]:
    """Return the outcome of each question by its id; `progress` is told how many of how many are done."""
    outcomes = {}
    for done, example in enumerate(examples, 1):
        outcomes[example.id] = ask(example)
        if progress is not None:
            progress(done, len(examples))
    return outcomes
