"""Client of one server: limits concurrent requests, retries with jitter, and leaves out unsupported parameters."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.adapters.llm_openai.calls import Call
from search.adapters.llm_openai.exchange import Heard, exchange, session
from search.adapters.llm_openai.server import Server, ServerFault
from search.adapters.llm_openai.usage import reported_tokens, spent_tokens, text_of
from search.domain.budget import Budget, BudgetSpent, estimated_tokens
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
    "stream_options": ("stream_options", "include_usage"),
}
"""Parameters that some servers do not support, and the words that refer to them in an error message."""


@dataclass(slots=True)
class _Tally:
    """The budget and the cost of one call so far, its latest error, and who hears the answer as it arrives."""

    budget: Budget
    heard: Heard | None = None
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

    async def answer(
        self, prompt: Prompt, ends: float, budget: Budget | None = None, heard: Heard | None = None
    ) -> Call:
        """Return the call with its completion, or with the reason for its absence; `ends` is on the monotonic clock.

        Every request, retries included, is taken from the budget; the budget may also shorten the answer. With `heard`
        the answer is streamed; a retry begins its text anew.
        """
        began, tally = time.monotonic(), _Tally(budget or Budget(), heard)
        completion, error, permanent = None, "", False
        try:
            async with asyncio.timeout(max(0.0, ends - began)), self._places:
                completion = await self._complete(prompt, ends, tally)
        except ServerFault as fault:
            error, permanent = f"{self.server.shown} {fault.reason}", not fault.again
        except BudgetSpent as spent:
            earlier = "" if tally.fault is None else f"{self.server.shown} {tally.fault.reason} It is asked no more: "
            error, permanent = f"{earlier}{spent.reason}.", True
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
            if tally.heard is not None:
                body |= {"stream": True}
                body |= {} if "stream_options" in refused else {"stream_options": {"include_usage": True}}
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
            try:
                return await self._once(body, ends, tally)
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

    async def _once(self, body: Mapping[str, Any], ends: float, tally: _Tally) -> Any:
        """Send one request within the budget. Raises ServerFault and BudgetSpent."""
        characters = sum(len(message["content"]) for message in body["messages"])
        request = tally.budget.reserve(self.server.model, estimated_tokens(characters), self.server.max_tokens)
        limited = {name: min(body[name], request.completion) for name in PARAMETERS["max_tokens"] if name in body}
        tally.requests += 1
        tokens = None
        try:
            asked, seconds = {**body, **limited}, self._seconds(ends)
            data = await exchange(self._http, self.server, "chat/completions", asked, seconds, tally.heard)
            tokens = spent_tokens(data, characters)
        finally:
            tally.budget.settle(request, tokens)
        return data

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
            # Hosted services take no other characters in this name.
            schema = {
                "name": re.sub(r"\W", "_", prompt.purpose, flags=re.ASCII),
                "strict": True,
                "schema": prompt.json_schema,
            }
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
    # If a server repeats the key in its answer, the key must not be shown as part of a plan.
    reason = server.key.cut_from(str(choice.get("finish_reason") or ""))[:40]
    text = server.key.cut_from(text_of(choice))
    if not text.strip():
        why = f" (it stopped because of {reason!r})" if reason else ""
        raise ServerFault(f"gave an empty answer{why}.", again=True)
    return Completion(text, server.shown, reason, reported_tokens(data), seconds)
