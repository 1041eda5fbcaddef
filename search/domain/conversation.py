"""What is said to a language model and what it says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def to_json(self) -> dict[str, str]:
        """Return the turn as OpenAI-compatible servers take it."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True)
class Prompt:
    """A conversation that a model is to go on with.

    `version` is the fingerprint of the files and the schema that it was rendered from, without the question.
    `json_schema` is what the answer has to fit, where the server can hold the model to it. `sample` tells answers to
    one prompt apart where several are drawn.
    """

    messages: tuple[Message, ...]
    version: str = ""
    purpose: str = "plan"
    json_schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    sample: int = 0

    def then(self, *messages: Message) -> Prompt:
        """Return the conversation with further turns."""
        return replace(self, messages=(*self.messages, *messages))

    @property
    def fingerprint(self) -> str:
        """Fingerprint of everything that decides about the answer, whoever gives it."""
        said = [[m.to_json() for m in self.messages], self.json_schema, self.temperature, self.sample]
        return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, why it stopped, and what it cost: tokens by kind, seconds, HTTP requests.

    `cached` says that the answer was given before, and cost nothing now.
    """

    text: str
    model: str = ""
    finish_reason: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    cached: bool = False
