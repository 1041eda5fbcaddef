"""One recorded call of a language model, and the protocol of the log that records it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from search.adapters.llm_openai.server import Server
from search.domain.conversation import Completion, Prompt


@dataclass(frozen=True)
class Call:
    """A prompt that was sent, with its completion, or with a sentence that says why there is none.

    `requests` counts HTTP requests, retries included. `structured` says whether the server was asked to enforce a JSON
    schema. `permanent` says whether the same call would fail again.
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
    """Stores calls, and finds their answers again."""

    def find(self, server: Server, prompt: Prompt) -> Completion | None:
        """Return the answer that this server gave to the same prompt earlier, or None."""
        ...

    def record(self, call: Call) -> None:
        """Store a call. It must not raise: a search does not fail because a call could not be stored."""
        ...
