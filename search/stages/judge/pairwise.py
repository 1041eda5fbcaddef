"""One prompt for each comparison of two candidates, by binary insertion (AF-Retriever, table 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from search.asking import Answers, add_tokens, ask
from search.domain.errors import DeadlineExceeded
from search.domain.trace import Limit
from search.prompts.reading import Unusable, value_in
from search.stages.judge.base import PROMPTS, STAGE, Judge, JudgeVerdict

IN_A_ROW = 3
"""Answers in a row that cannot be used, after which the judge is asked no more."""


class _NoAnswer(Exception):
    """The judge is asked no more; the text says why."""


@dataclass(frozen=True)
class JudgePairwise(Judge):
    """Inserts each candidate into the sorted ones before it, at the place that binary search finds.

    For n candidates there are at most ⌈log2 2⌉ + … + ⌈log2 n⌉ comparisons, one after the other: 69 for 20. An answer
    that cannot be read counts as equal, so that the candidate stays behind. When time runs out, the sorted candidates
    stand first, and the others follow in the order before.
    """

    together: ClassVar[int] = 2

    def order(self, question: str, texts: Sequence[str], limit: Limit) -> JudgeVerdict:
        """Return the order by comparisons; none if no comparison could be made."""
        verdict = JudgeVerdict()
        unreadable, made = 0, 0

        def better(one: int, other: int) -> bool:
            nonlocal unreadable, made
            try:
                limit.check(STAGE)
            except DeadlineExceeded as error:
                raise _NoAnswer(f"{error.reason.rstrip('.')}.") from None
            prompt = PROMPTS.pair(question, texts[one], texts[other])
            answers: Answers[bool] = ask(self.language_model, [prompt], _first_is_better, limit)
            add_tokens(verdict.tokens, answers.tokens)
            verdict.prompt_fingerprint = answers.prompt_fingerprint
            [answer] = answers
            unreadable = 0 if answer.value is not None else unreadable + 1
            if answer.error is not None or unreadable == IN_A_ROW:
                raise _NoAnswer(answers.said)
            made += answer.value is not None
            return bool(answer.value)

        placed: list[int] = []
        try:
            for at in range(len(texts)):
                insert(placed, at, better)
        except _NoAnswer as reason:
            verdict.said = str(reason)
        if not made:
            verdict.said = verdict.said or "the judge compared nothing."
            return verdict
        if len(placed) < len(texts):
            verdict.said = f"Only the first {len(placed)} of {len(texts)} were compared: {verdict.said}"
        verdict.order = [*placed, *range(len(placed), len(texts))]
        return verdict


def insert(placed: list[int], new: int, better: Callable[[int, int], bool]) -> None:
    """Insert a candidate into sorted ones, the best first, by binary search; behind those that it does not beat."""
    low, high = 0, len(placed)
    while low < high:
        middle = (low + high) // 2
        if better(new, placed[middle]):
            high = middle
        else:
            low = middle + 1
    placed.insert(low, new)


def _first_is_better(text: str) -> bool:
    """Return whether an answer names the first of two; in JSON, or as a number alone. Raises Unusable."""
    said = value_in(text, "better")
    if str(said).strip() not in ("1", "2"):
        raise Unusable(f"The answer is 1 or 2, not {str(said)[:80]!r}.")
    return str(said).strip() == "1"
