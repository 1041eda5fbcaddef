"""Asks the language model for texts within a share of the time, so that time is left to search without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from search.asking import Answers, ask, sentence
from search.domain.conversation import NO_MODEL, Prompt
from search.domain.expansion import Expansion, ExpansionPart
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.written import Written
from search.interfaces import LanguageModel
from search.prompts.reading import Reader

T = TypeVar("T")
SHARE = 0.5
"""Fraction of the time left that one step may wait for the model."""
SECONDS = 10.0
SECONDS_HELP = "Time limit of the language model for this step, in seconds."


def asked(model: LanguageModel, prompts: Sequence[Prompt], read: Reader[T], limit: Limit, seconds: float) -> Answers[T]:
    """Return the answers to prompts that are sent together. Raises SearchCancelled."""
    return ask(model, prompts, read, limit, seconds=seconds, share=SHARE)


def written(
    model: LanguageModel, prompts: Sequence[Prompt], read: Reader[str], limit: Limit, seconds: float
) -> Written:
    """Return the texts that the model wrote, each once, and a sentence about those that are missing."""
    if not model.configured():
        said = sentence(f"{NO_MODEL}.")
        return Written(said=said, detail=said)
    answers = asked(model, prompts, read, limit, seconds)
    texts = dict.fromkeys(value for value in answers.values if value)
    said = sentence(answers.said)
    return Written(tuple(texts), said, said, answers.prompt_fingerprint)


def with_texts(
    question: Question, answer: Written, instead: Sequence[ExpansionPart], said: str, *, each: int, total: int
) -> Expansion:
    """Return the question and the written texts; without any, the parts `instead` and the sentence `said`."""
    parts = [ExpansionPart(text, "model") for text in answer.texts]
    detail = answer.said if parts else f"{answer.said} {said}".strip()
    return Expansion.of(
        question, parts or instead, each=each, total=total, detail=detail, status=answer.status,
        prompt_fingerprint=answer.prompt_fingerprint,
    )  # fmt: skip
