"""One prompt for each candidate, answered by a score from 0 to 1 (AF-Retriever, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from search.asking import ask
from search.domain.trace import Limit
from search.prompts.reading import Unusable, value_in
from search.stages.judge.base import PROMPTS, Judge, JudgeVerdict

UNKNOWN = 0.5
"""Score of a candidate whose answer cannot be read, as in the authors' program."""


@dataclass(frozen=True)
class JudgePointwise(Judge):
    """Orders candidates by the score that each gets alone; equal scores keep the order before.

    All prompts are sent at once, so this is the fastest judge where the server answers several at a time.
    """

    together: ClassVar[int] = 1

    def order(self, question: str, texts: Sequence[str], limit: Limit) -> JudgeVerdict:
        """Return the order by falling score; none if no answer can be read."""
        answers = ask(self.language_model, [PROMPTS.point(question, text) for text in texts], _score, limit)
        cost = answers.tokens, answers.prompt_fingerprint
        if all(value is None for value in answers.values):
            return JudgeVerdict(None, (), answers.said, *cost)
        scores = [UNKNOWN if value is None else value for value in answers.values]
        order = sorted(range(len(texts)), key=lambda at: -scores[at])
        said = f"A possible answer without a readable score counts {UNKNOWN}: {answers.said}" if answers.said else ""
        return JudgeVerdict(order, [scores[at] for at in order], said, *cost)


def _score(text: str) -> float:
    """Return the score in an answer: in JSON, or a number alone. Raises Unusable."""
    said = value_in(text, "score")
    try:
        score = float(said) if isinstance(said, str | int | float) and not isinstance(said, bool) else float("nan")
    except ValueError:
        score = float("nan")
    if not 0 <= score <= 1:
        raise Unusable(f"A score is a number from 0 to 1, not {str(said)[:80]!r}.")
    return score
