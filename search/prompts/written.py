"""The prompt by which a language model rewords a written answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.conversation import Message, Prompt
from search.domain.question import LONGEST_QUESTION
from search.prompts.files import PromptFiles, fingerprint

SENTENCES = "sentences"
ANSWER: Mapping[str, Any] = {
    "type": "object", "required": [SENTENCES], "additionalProperties": False,
    "properties": {SENTENCES: {"type": "array", "items": {"type": "string"}}},
}  # fmt: skip
"""The JSON schema of an answer."""


@dataclass(frozen=True)
class WrittenPrompts:
    """Prompts that ask for a written answer in other words."""

    files: PromptFiles = field(default_factory=PromptFiles)

    @property
    def version(self) -> str:
        """The fingerprint of everything but the question and its answer."""
        texts = (self.files.text(f"written/{name}.md") for name in ("system", "question"))
        return fingerprint(*texts, json.dumps(ANSWER, sort_keys=True))

    def reword(self, question: str, sentences: Sequence[str], sources: Sequence[str]) -> Prompt:
        """Return the prompt that asks for these sentences in other words; `sources` begin with their numbers."""
        asked = self.files.render(
            "written/question.md", question=" ".join(question[:LONGEST_QUESTION].split()),
            sentences="\n".join(sentences), sources="\n".join(sources),
        )  # fmt: skip
        messages = (Message("system", self.files.text("written/system.md")), Message("user", asked))
        return Prompt(messages, self.version, "written", ANSWER)
