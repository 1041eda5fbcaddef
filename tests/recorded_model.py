"""A language-model server that plays recorded answers over real HTTP, and refuses prompts that it does not know.

Answers belong to prompts by the fingerprint of their messages (`key_of`), or by a phrase of the last message. A prompt
without an answer is refused with status 400; the message shows the prompt, so that a test says what it lacks. A test
whose prompt changed by a comma fails, and says how.

    with recorded_model.running({key_of(prompt): '{"anchors": …}', "cheaper than": "…"}) as server:
        ...  # server.url is the base URL, server.requests are the requests

Recorded answers of one test may also lie in a file, as a list of {"messages" or "phrase", "answer"} (`read_recording`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from search.domain.conversation import Prompt
from tests import misbehaving
from tests.misbehaving import Body, Reply, Server

SHOWN_CHARACTERS = 1_500
"""Characters of an unknown prompt's last message that the refusal shows."""


def key_of(prompt: Prompt | Sequence[Mapping[str, str]]) -> str:
    """Return the fingerprint of a prompt's messages, as the server sees them."""
    messages = [message.to_json() for message in prompt.messages] if isinstance(prompt, Prompt) else list(prompt)
    return hashlib.blake2b(json.dumps(messages, sort_keys=True).encode(), digest_size=16).hexdigest()


def read_recording(path: Path) -> dict[str, str]:
    """Return the answers of a file, by fingerprint or phrase; an answer that is no text is written as JSON."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {
        row["phrase"] if "phrase" in row else key_of(row["messages"]): row["answer"]
        if isinstance(row["answer"], str)
        else json.dumps(row["answer"])
        for row in rows
    }


@dataclass
class Recording:
    """The answers, and how they are given."""

    answers: Mapping[str, str]
    pause: float = 0.0
    """Seconds before each answer; the server's end cuts them short."""
    most_words: int | None = None
    """Words after which every answer is cut off, with the finish reason of a cut-off answer."""
    dies: bool = False
    """Whether the connection breaks off in the middle of every answer."""
    prompt_tokens_cached: int = 0
    """Tokens of each prompt that the server claims to have read from its cache."""
    refused: list[str] = field(default_factory=list)
    """The refusals of unknown prompts; `running` fails the test that leaves one."""

    def reply(self, body: Body, server: Server) -> Reply:
        """Return the reply to one request."""
        answer = self._find(body["messages"])
        if answer is None:
            message = _refusal(body["messages"], self.answers)
            self.refused.append(message)
            return Reply.json({"error": {"message": message, "type": "invalid_request_error"}}, status=400)
        if self.pause:
            server.over.wait(self.pause)
        words, reason = answer.split(" "), "stop"
        if self.most_words is not None and len(words) > self.most_words:
            answer, reason = " ".join(words[: self.most_words]), "length"
        return _streamed(answer, reason) if body.get("stream") else self._whole(body, answer, reason)

    def _find(self, messages: Sequence[Mapping[str, str]]) -> str | None:
        if (exact := self.answers.get(key_of(messages))) is not None:
            return exact
        last = messages[-1]["content"]
        found = [answer for phrase, answer in self.answers.items() if phrase in last]
        return found[0] if len(found) == 1 else None

    def _whole(self, body: Body, answer: str, reason: str) -> Reply:
        prompt = sum(len(message["content"].split()) for message in body["messages"])
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": len(answer.split())}
        usage["prompt_tokens_details"] = {"cached_tokens": min(prompt, self.prompt_tokens_cached)}
        whole = Reply.json(misbehaving.chat(answer, reason, usage=usage, model=body["model"]))
        if not self.dies:
            return whole
        content = whole.body if isinstance(whole.body, str) else whole.body.decode()
        return Reply(200, content[: len(content) // 2], whole.headers, declared=len(content))


@contextmanager
def running(answers: Mapping[str, str], *, strict: bool = True, **ways: Any) -> Iterator[Server]:
    """Run a server with recorded answers on a free port; `ways` are the other fields of Recording.

    With `strict`, an unknown prompt fails the test at its end, even where the search went on without the answer.
    """
    recording = Recording(answers, **ways)
    with misbehaving.running() as server:
        server.respond = lambda body: recording.reply(body, server)
        yield server
    if strict and recording.refused:
        raise AssertionError(f"{len(recording.refused)} unknown prompts. {recording.refused[0]}")


def _refusal(messages: Sequence[Mapping[str, str]], answers: Mapping[str, str]) -> str:
    last = messages[-1]["content"]
    matching = [phrase for phrase in answers if phrase in last]
    why = f"{len(matching)} recorded phrases match: {matching}" if matching else "no recorded answer matches"
    return (
        f"{why}. The prompt has {len(messages)} messages and the key {key_of(messages)}; the last one: "
        f"{last[:SHOWN_CHARACTERS]}"
    )


def _streamed(answer: str, reason: str) -> Reply:
    """Return an answer as server-sent events, three words in each."""
    words = answer.split(" ")
    chunks = [" ".join(words[at : at + 3]) for at in range(0, len(words), 3)]
    parts = [chunk if at == len(chunks) - 1 else f"{chunk} " for at, chunk in enumerate(chunks)]
    events = [{"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]} for part in parts]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return Reply(200, "".join([*lines, "data: [DONE]\n\n"]), {"Content-Type": "text/event-stream"})
