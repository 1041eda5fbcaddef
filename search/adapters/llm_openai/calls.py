"""One call of a language model as it is recorded, and who records it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from search.adapters.llm_openai.server import Server
from search.domain.conversation import Completion, Prompt


@dataclass(frozen=True)
class Call:
    """A prompt that was sent, and its completion or the sentence that says why there is none.

    `requests` counts HTTP requests, repeated ones included; `structured` says whether the server was asked to hold the
    model to a JSON schema; `permanent` whether the same call would fail again.
    """

    server: Server
    prompt: Prompt
    completion: Completion | None = None
    error: str = ""
    permanent: bool = False
    seconds: float = 0.0
    requests: int = 0
    structured: bool = False


class CallLog(Protocol):
    """Remembers calls."""

    def find(self, server: Server, prompt: Prompt) -> Completion | None:
        """Return the answer that this server gave to this very prompt before, where there is one."""
        ...

    def record(self, call: Call) -> None:
        """Keep a call. It must not raise: a search does not fail because a call could not be written down."""
        ...
