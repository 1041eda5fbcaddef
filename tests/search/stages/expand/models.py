"""Language models for the stages that expand questions: a real server that answers by a function, and none at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from search.adapters.llm_openai import Call, ConfiguredLanguageModel, Server
from search.domain.conversation import Completion, Prompt
from search.domain.errors import StageError
from search.domain.trace import Limit
from tests import misbehaving
from tests.misbehaving import Body, Reply


class NoLog:
    """Stores nothing."""

    def find(self, server: Server, prompt: Prompt) -> Completion | None:
        return None

    def record(self, call: Call) -> None:
        pass


class NoModel:
    """A site without a language model."""

    def configured(self) -> bool:
        return False

    def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
        raise AssertionError("nobody asks a model that is not there")


def model_at(server: misbehaving.Server) -> ConfiguredLanguageModel:
    """Return the client of a test's server."""
    return ConfiguredLanguageModel(NoLog(), Server("kestrel", server.url, "tiny-1"))


@contextmanager
def answering(answer: Callable[[str], str] | str) -> Iterator[misbehaving.Server]:
    """Run a server that answers each request by its last message, or always with the same text."""

    def respond(body: Body) -> Reply:
        said = body["messages"][-1]["content"]
        return Reply.says(answer if isinstance(answer, str) else answer(said))

    with misbehaving.running() as server:
        server.respond = respond
        yield server


def asked(server: misbehaving.Server) -> list[str]:
    """Return the last message of each request."""
    return [body["messages"][-1]["content"] for body in server.requests]
