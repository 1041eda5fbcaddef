"""The prompt by which a language model judges a candidate as one more annotator."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from search.domain.conversation import Message, Prompt
from search.domain.question import LONGEST_QUESTION
from search.prompts.files import PromptFiles, fingerprint

UNSURE = "unsure"
LONGEST_GUIDELINE, LONGEST_DESCRIPTION = 12_000, 12_000
"""Characters of a guideline, and of a description, that the model is shown."""


@dataclass(frozen=True)
class AnnotationPrompts:
    """Prompts that ask for the grade of one candidate, from 0 to `highest`, or `UNSURE`.

    The guideline stands in the system message, so that a server can reuse what it has read of it.
    """

    guideline: str
    highest: int = 3
    files: PromptFiles = field(default_factory=PromptFiles)

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON schema of an answer; the reason comes first, so that the grade follows from it."""
        grades = [*(str(grade) for grade in range(self.highest + 1)), UNSURE]
        return {
            "type": "object", "required": ["reason", "grade"], "additionalProperties": False,
            "properties": {"reason": {"type": "string"}, "grade": {"type": "string", "enum": grades}},
        }  # fmt: skip

    @property
    def version(self) -> str:
        """The fingerprint of everything but the question and the candidate."""
        return fingerprint(self._system, json.dumps(self.answer, sort_keys=True))

    @property
    def _system(self) -> str:
        return self.files.render("annotation/judge.md", guideline=self.guideline[:LONGEST_GUIDELINE].strip())

    def judge(self, question: str, description: str) -> Prompt:
        """Return the prompt that asks for the grade of a described candidate."""
        asked = self.files.render(
            "annotation/item.md", question=" ".join(question[:LONGEST_QUESTION].split()),
            description=description[:LONGEST_DESCRIPTION],
        )  # fmt: skip
        messages = (Message("system", self._system), Message("user", asked))
        return Prompt(messages, self.version, "annotation", self.answer)
