"""The language model of the admin or the environment; it is looked up at each call, so that changes apply at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from search.adapters.llm_openai.background import Background, background
from search.adapters.llm_openai.calls import Call, CallLog
from search.adapters.llm_openai.exchange import Heard
from search.adapters.llm_openai.patience import Patience
from search.adapters.llm_openai.server import Server, ServerFault, Structured
from search.adapters.postgres_reading import read
from search.domain.budget import Budget
from search.domain.conversation import NO_MODEL, Completion, ModelIdentity, Prompt
from search.domain.errors import SearchCancelled, StageError
from search.domain.trace import Limit
from search.models import Endpoint
from search.models.endpoints import ENDPOINT_ACTIVE, endpoint_active
from search.models.sealed import Secret, Unsealable

STAGE = "language model"
ENVIRONMENT = "the environment's server"
_patience = Patience()
"""Shared by all searches of this process."""


class ConfiguredLanguageModel:
    """The first active endpoint of the admin, otherwise the server of the environment (interfaces.LanguageModel).

    `log` stores calls and answers; it may be given as the dotted path of its factory. `server` fixes the server.
    `patience` suspends a server that repeatedly kept searches waiting without an answer; unless a server is fixed, all
    searches of the process share it.
    """

    def __init__(self, log: CallLog | str, server: Server | None = None, patience: Patience | None = None) -> None:
        self._log: CallLog = import_string(log)() if isinstance(log, str) else log
        self._fixed = server
        self._patience = patience or (Patience() if server else _patience)

    def configured(self) -> bool:
        """Whether there is a server to call at this moment; see interfaces.LanguageModel."""
        return self._fixed is not None or bool(settings.LLM_BASE_URL) or _endpoint_active()

    def identity(self) -> ModelIdentity:
        """Return the model and its server; see interfaces.IdentifiedModel."""
        server = self._fixed or current_server()
        said = [server.base_url, server.model, server.max_tokens, server.structured]
        return ModelIdentity(
            server.model, server.name, hashlib.blake2b(json.dumps(said).encode(), digest_size=16).hexdigest()
        )

    def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
        """Return the answers to several prompts, in their order; see interfaces.LanguageModel."""
        return self._complete(prompts, limit)

    def stream(self, prompt: Prompt, limit: Limit, heard: Heard) -> Completion | StageError:
        """Return the answer to a prompt, and tell it as it arrives; see interfaces.StreamingModel."""
        [outcome] = self._complete([prompt], limit, heard)
        return outcome

    def _complete(
        self, prompts: Sequence[Prompt], limit: Limit, heard: Heard | None = None
    ) -> list[Completion | StageError]:
        server = self._fixed or current_server()
        answers: dict[int, Completion | StageError] = {}
        for index, prompt in enumerate(prompts):
            if (known := self._log.find(server, prompt)) is not None:
                answers[index] = known
                if limit.budget is not None:
                    limit.budget.stored()
        open_ones = [index for index in range(len(prompts)) if index not in answers]
        if open_ones:
            calls = self._ask(server, [prompts[index] for index in open_ones], limit, heard)
            answers |= {index: _outcome(call) for index, call in zip(open_ones, calls, strict=True)}
        return [answers[index] for index in range(len(prompts))]

    def _ask(self, server: Server, prompts: Sequence[Prompt], limit: Limit, heard: Heard | None) -> list[Call]:
        limit.check(STAGE)
        if reason := self._patience.lost(server):
            raise StageError(STAGE, reason)
        loop, budget = background(), limit.budget or Budget()
        budget.check(len(prompts))
        own = limit.at_most(budget.seconds_left())
        try:
            with budget.waiting():
                calls = loop.run(_answers(loop, server, prompts, own.ends, budget, heard), own, STAGE)
        except (SearchCancelled, StageError) as stopped:
            for prompt in prompts:
                self._log.record(Call(server, prompt, error=str(stopped)))
            raise
        for call in calls:
            self._log.record(call)
        self._patience.note(server, calls)
        return calls


def _endpoint_active() -> bool:
    if (known := endpoint_active.get()) is not None:
        return known
    [(active,)] = read(STAGE, f"SELECT {ENDPOINT_ACTIVE}", keep=True)
    return bool(active)


def list_models(server: Server, limit: Limit) -> list[str]:
    """Return the models that a server lists. Raises StageError."""
    loop = background()

    async def listed() -> list[str]:
        client = await loop.client(server)
        return await client.models(limit.ends)

    try:
        return loop.run(listed(), limit, STAGE)
    except ServerFault as fault:
        raise StageError(STAGE, f"{server.shown} {fault.reason}", permanent=not fault.again) from None


def current_server() -> Server:
    """Return the server to call. Raises StageError if none is configured or its key cannot be read."""
    endpoint = Endpoint.objects.filter(active=True).first()
    server = server_of(endpoint) if endpoint is not None else environment_server()
    if server is None:
        reason = f"{NO_MODEL}: set LLM_BASE_URL and LLM_MODEL, or add an endpoint in the admin"
        raise StageError(STAGE, reason, permanent=True)
    return server


def server_of(endpoint: Endpoint) -> Server:
    """Return the server of an endpoint. Raises StageError if its key cannot be read any more."""
    try:
        key = endpoint.api_key
    except Unsealable as error:
        raise StageError(STAGE, f"the key of {endpoint.name} cannot be read: {error}", permanent=True) from None
    return Server(
        name=endpoint.name,
        base_url=endpoint.base_url,
        model=endpoint.model,
        key=key,
        timeout=endpoint.timeout,
        concurrency=endpoint.concurrency,
        max_tokens=endpoint.max_tokens,
        structured=cast(Structured, endpoint.structured_output),
        endpoint_id=endpoint.pk,
    )


def environment_server() -> Server | None:
    """Return the server of LLM_BASE_URL, LLM_MODEL and LLM_API_KEY, or None if they are not set."""
    if not settings.LLM_BASE_URL:
        return None
    return Server(ENVIRONMENT, settings.LLM_BASE_URL, settings.LLM_MODEL, Secret(settings.LLM_API_KEY))


async def _answers(
    loop: Background, server: Server, prompts: Sequence[Prompt], ends: float, budget: Budget, heard: Heard | None
) -> list[Call]:
    client = await loop.client(server)
    return list(await asyncio.gather(*(client.answer(prompt, ends, budget, heard) for prompt in prompts)))


def _outcome(call: Call) -> Completion | StageError:
    return call.completion or StageError(STAGE, call.error, permanent=call.permanent)
