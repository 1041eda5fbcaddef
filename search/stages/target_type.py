"""Question → the node type of its answers, predicted by a language model (AF-Retriever, section 3.2, step 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from search.asking import ask
from search.domain.conversation import NO_MODEL
from search.domain.cypher.check import plain
from search.domain.errors import nearest
from search.domain.graph import Schema
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import LanguageModel
from search.interfaces.triplets import NoModel, TargetTypes
from search.prompts.autofocus import AutofocusPrompts
from search.prompts.reading import Unusable, value_in

STAGE = "target"
TIME_SHARE = 0.4
"""Largest part, in (0, 1), of the remaining time that the model may take: without it, the planner answers."""


@dataclass(frozen=True)
class TargetType:
    """Asks the model for the type of the answers; nobody is asked if only one type may be an answer."""

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    schema: Schema
    seconds: float = option(
        5.0, "Time limit of the language model for the type, in seconds.", low=0.1, high=300, public_high=10
    )

    def __call__(self, question: Question, limit: Limit) -> TargetTypes:
        """Return the predicted type; all types that may be answers if the model names none of them.

        Raises NoModel if no model is configured, or if it cannot be reached.
        """
        limit.check(STAGE)
        labels = self.schema.answerable
        if len(labels) == 1:
            return TargetTypes(f"Only a {labels[0]} can be an answer.", labels=labels)
        if not self.language_model.configured():
            raise NoModel(STAGE, NO_MODEL, permanent=True)
        prompt = AutofocusPrompts(self.schema).target(question.text, labels)
        answers = ask(
            self.language_model, [prompt], partial(_read, labels), limit, seconds=self.seconds, share=TIME_SHARE
        )
        [answer] = answers
        if answer.error is not None:
            raise NoModel(STAGE, answer.error.reason, permanent=answer.error.permanent)
        cost = answers.tokens, answers.prompt_fingerprint
        if answer.value is None:
            return TargetTypes(f"Every type may be an answer: {answers.said}", "degraded", *cost, labels=labels)
        return TargetTypes(f"The answers are of the type {answer.value}.", "ok", *cost, labels=(answer.value,))


def _read(labels: Sequence[str], text: str) -> str:
    """Return the type that an answer names, in JSON or as plain text. Raises Unusable."""
    said = value_in(text, "type")
    found = [label for label in labels if isinstance(said, str) and plain(label) == plain(said)]
    if not found:
        close = nearest(str(said), labels)
        raise Unusable(f"{str(said)[:80]!r} is no type of answers." + (f" Did you mean {close!r}?" if close else ""))
    return found[0]
