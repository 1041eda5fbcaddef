"""Client of one server: limits concurrent requests, retries with jitter, and leaves out unsupported parameters."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.adapters.llm_openai.calls import Call
from search.adapters.llm_openai.exchange import exchange, session
from search.adapters.llm_openai.server import Server, ServerFault
from search.domain.conversation import Completion, Prompt

ATTEMPTS = 3
FIRST_WAIT = 0.4
"""Seconds before the first retry, doubled for each further one; the actual pause is random, half of it or more."""
REFUSING = frozenset({400, 404, 415, 422, 501})
"""HTTP statuses by which a server may say that it does not support a parameter."""
PARAMETERS = {
    "response_format": ("response_format", "json_schema", "guided", "grammar", "structured"),
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
}
"""Parameters that some servers do not support, and the words that refer to them in an error message."""


@dataclass(slots=True)
class _Tally:
    """The cost of one call so far, and its latest error."""

    requests: int = 0
    structured: bool = False
    fault: ServerFault | None = None


class Client:
    """Sends calls to one server. It belongs to one event loop, and is replaced when the server's settings change."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._http = session(server)
        self._places = asyncio.Semaphore(server.concurrency)
        self._refused: frozenset[str] = frozenset()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def answer(self, prompt: Prompt, ends: float) -> Call:
        """Return the call with its completion, or with the reason for its absence; `ends` is on the monotonic clock."""
        began, tally = time.monotonic(), _Tally()
        completion, error, permanent = None, "", False
        try:
            async with asyncio.timeout(max(0.0, ends - began)), self._places:
                completion = await self._complete(prompt, ends, tally)
        except ServerFault as fault:
            error, permanent = f"{self.server.shown} {fault.reason}", not fault.again
        except TimeoutError:
            why = "did not answer within the time that was left." if tally.fault is None else _too_late(tally.fault)
            error = f"{self.server.shown} {why}"
        return Call(
            self.server,
            prompt,
            completion,
            error,
            permanent,
            time.monotonic() - began,
            tally.requests,
            tally.structured,
        )

    async def models(self, ends: float) -> list[str]:
        """Return the names of the models that the server lists. Raises ServerFault."""
        data = await exchange(self._http, self.server, "models", None, self._seconds(ends))
        rows = data.get("data", data.get("models")) if isinstance(data, dict) else data
        if not isinstance(rows, list):
            raise ServerFault("answers without a list of models; it is not OpenAI-compatible there.")
        named = [row.get("id", row.get("name")) if isinstance(row, dict) else row for row in rows]
        return [name for name in named if isinstance(name, str)]

    async def _complete(self, prompt: Prompt, ends: float, tally: _Tally) -> Completion:
        """Return the completion; refused parameters are left out, and remembered once the server has answered."""
        refused = set(self._refused)
        while True:
            body = self._body(prompt, refused)
            tally.structured = "response_format" in body
            try:
                began = time.monotonic()
                data = await self._repeatedly(body, ends, tally)
            except ServerFault as fault:
                parameter = self._blamed(fault, body, refused)
                if parameter is None:
                    raise
                refused.add(parameter)
                continue
            self._refused = frozenset(refused)
            return _completion(data, self.server, time.monotonic() - began)

    async def _repeatedly(self, body: Mapping[str, Any], ends: float, tally: _Tally) -> Any:
        for attempt in range(1, ATTEMPTS + 1):
            tally.requests += 1
            try:
                return await exchange(self._http, self.server, "chat/completions", body, self._seconds(ends))
            except ServerFault as fault:
                if tally.fault is not None and time.monotonic() >= ends:
                    raise ServerFault(_too_late(tally.fault), again=True) from None
                tally.fault = fault
                pause = FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)
                pause = max(pause, fault.wait or 0.0)
                if not fault.again or attempt == ATTEMPTS:
                    raise
                if time.monotonic() + pause >= ends:
                    raise self._no_time(fault, pause) from None
                await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _body(self, prompt: Prompt, refused: set[str]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.server.model,
            "messages": [message.to_json() for message in prompt.messages],
            "stream": False,
        }
        body["max_completion_tokens" if "max_tokens" in refused else "max_tokens"] = self.server.max_tokens
        if "temperature" not in refused:
            body["temperature"] = prompt.temperature
        if prompt.json_schema is not None and self.server.structured != "off" and "response_format" not in refused:
            schema = {"name": prompt.purpose, "strict": True, "schema": prompt.json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _blamed(self, fault: ServerFault, body: Mapping[str, Any], refused: set[str]) -> str | None:
        """Return the parameter to leave out after a refusal, or None if nothing can be left out."""
        if fault.status not in REFUSING:
            return None
        said = fault.message.casefold()
        left = [name for name in PARAMETERS if name in body and name not in refused]
        if self.server.structured == "on" and "response_format" in left:
            left.remove("response_format")
        named = [name for name in left if any(word in said for word in PARAMETERS[name])]
        if named:
            return named[0]
        return "response_format" if "response_format" in left and fault.status != 404 else None

    def _seconds(self, ends: float) -> float:
        return min(self.server.timeout, max(0.0, ends - time.monotonic()))

    @staticmethod
    def _no_time(fault: ServerFault, pause: float) -> ServerFault:
        """Return the fault with the addition that no time is left for a retry."""
        asked = f" It asks to wait {pause:.0f} seconds, longer than there is time for." if fault.wait else ""
        return ServerFault(f"{fault.reason}{asked}", again=True, status=fault.status, message=fault.message)


def _too_late(earlier: ServerFault) -> str:
    """Return the reason of a call whose last retry ran out of time: the error that caused the retry."""
    return f"{earlier.reason} There was no time to wait for another answer."


def _completion(data: Any, server: Server, seconds: float) -> Completion:
    """Return the completion in a response of `chat/completions`. Raises ServerFault if there is none."""
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list):
        raise ServerFault("answers without choices; it is not OpenAI-compatible at that address.")
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    # If a server repeats the key in its answer, the key must not be shown as part of a plan.
    reason = server.key.cut_from(str(choice.get("finish_reason") or ""))[:40]
    text = server.key.cut_from(_text(message.get("content") if isinstance(message, dict) else choice.get("text")))
    if not text.strip():
        why = f" (it stopped because of {reason!r})" if reason else ""
        raise ServerFault(f"gave an empty answer{why}.", again=True)
    usage = data.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    tokens = {
        kind: counted[f"{kind}_tokens"]
        for kind in ("prompt", "completion")
        if isinstance(counted.get(f"{kind}_tokens"), int) and 0 <= counted[f"{kind}_tokens"] < 2**31
    }
    return Completion(text, server.shown, reason, tokens, seconds)


def _text(content: Any) -> str:
    """Return a message's text, which some servers send in parts, without NUL and lone surrogates (not storable)."""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict) and _is_text(part))
    if not isinstance(content, str):
        return ""
    return content.replace("\x00", "�").encode("utf-8", "replace").decode()


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str)
