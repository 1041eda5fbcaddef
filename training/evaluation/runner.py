"""Search every question with a pipeline and keep its outcome: answered, empty, or error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from training.data.examples import Example


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The outcome of one question: ids and scores from best to worst, seconds of the search, or an error message.

    `stages` holds seconds by role of the steps. `probability` is that of the first plan (None when there is no plan).
    `cached_calls` counts answers of a language model that came from the cache.
    """

    ranking: tuple[tuple[str, float], ...] = ()
    seconds: float = 0.0
    error: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)
    probability: float | None = None
    cached_calls: int = 0


Ask = Callable[[Example], QuestionOutcome]
Progress = Callable[[int, int], None]


def run(examples: Sequence[Example], ask: Ask, progress: Progress | None = None) -> dict[str, QuestionOutcome]:
    """Return the outcome of each question by its id; `progress` receives the finished and total numbers."""
    outcomes = {}
    for done, example in enumerate(examples, 1):
        outcomes[example.id] = ask(example)
        if progress is not None:
            progress(done, len(examples))
    return outcomes
