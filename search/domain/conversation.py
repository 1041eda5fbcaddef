"""Messages to a language model, and its answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]

NO_MODEL = "no language model is configured"
"""Detail of a step that skipped its language model because none is configured. Pages do not show it as an error."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def to_json(self) -> dict[str, str]:
        """Return the turn in the format of OpenAI-compatible servers."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True)
class Prompt:
    """A conversation that a model is asked to continue.

    `version` is the fingerprint of the files and the schema from which the prompt was rendered, without the question.
    `json_schema` describes the answer, for servers that can enforce a schema. `sample` distinguishes the answers if
    several are drawn for one prompt.
    """

    messages: tuple[Message, ...]
    version: str = ""
    purpose: str = "plan"
    json_schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    sample: int = 0

    def then(self, *messages: Message) -> Prompt:
        """Return the conversation with further turns appended."""
        return replace(self, messages=(*self.messages, *messages))

    @property
    def fingerprint(self) -> str:
        """Hash of everything that determines the answer except the model."""
        said = [[m.to_json() for m in self.messages], self.json_schema, self.temperature, self.sample]
        return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answers: its name, its server's name, and the hash of everything but the prompt that decides."""

    model: str
    server: str
    fingerprint: str


CACHED_CALLS = "cached calls"
"""Key in a step's `tokens`: the number of answers that were read from storage and cost no tokens."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, the reason why it stopped, and its cost: tokens by kind, seconds.

    `cached` says that the answer was stored earlier and cost nothing now.
    """

    text: str
    model: str = ""
    finish_reason: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    cached: bool = False
