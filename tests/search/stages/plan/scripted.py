"""A language model that says what a test tells it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from search.domain.conversation import Completion, Prompt
from search.domain.errors import StageError
from search.domain.trace import Limit


class Scripted:
    """A language model that answers as it is told, and keeps what it was asked (interfaces.LanguageModel)."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[Prompt] = []

    def configured(self) -> bool:
        """Be there."""
        return True

    def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
        """Take the next answers: a plan as JSON, a text, a completion, an error to return."""
        limit.check("language model")
        self.asked += prompts
        return [self._outcome(self._answers.pop(0)) for _ in prompts]

    @staticmethod
    def _outcome(answer: Any) -> Completion | StageError:
        if isinstance(answer, Completion | StageError):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Completion(text, "tiny-1 at kestrel", "stop", {"prompt": 100, "completion": 10})
