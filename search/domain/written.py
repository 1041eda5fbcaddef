"""Texts that a language model wrote in one step of an expansion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from search.domain.expansion import BETWEEN
from search.domain.question import Question
from search.domain.trace import StepStatus


@dataclass(frozen=True)
class Written:
    """The texts that can be used. `said` is a sentence about those that are missing; empty if none is.

    `detail`, `status` and `prompt_fingerprint` are those of the step: see `search.domain.trace.Step`.
    """

    texts: tuple[str, ...] = ()
    said: str = ""
    detail: str = ""
    prompt_fingerprint: str = ""

    @property
    def status(self) -> StepStatus:
        """`degraded` if a text is missing although the model was asked."""
        return "degraded" if self.said else "ok"

    def asked(self, question: Question) -> list[Question]:
        """Return for each text the question followed by it; the question alone if there is no text."""
        return [replace(question, text=f"{question.text}{BETWEEN}{text}") for text in self.texts] or [question]

    def to_json(self) -> dict[str, Any]:
        """Return the texts."""
        return {"texts": list(self.texts)}
