"""llm_calls: stores every call of a language model as a row, and serves stored answers as a cache."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from search.adapters.llm_openai import Call, Server
from search.domain.budget import ANY_MODEL
from search.domain.conversation import Completion, Prompt
from search.models import LanguageModelCall
from search.services.observing.events import ModelCalled, tell

CACHE_DAYS = 30
"""Age in days up to which a stored answer is used again."""
LONGEST_CALL_TEXT = 100_000
"""Characters of an answer that are stored."""

log = structlog.get_logger(__name__)


class RecordedCalls:
    """The rows of `LanguageModelCall` as a log of calls (search.adapters.llm_openai.CallLog).

    If the database rejects a row, the search continues and only the record is lost; the search's own rows will report
    an unavailable database.
    """

    def find(self, server: Server, prompt: Prompt) -> Completion | None:
        """Return the newest stored answer of this server to this prompt, or None; its tokens and seconds are zero."""
        since = timezone.now() - timedelta(days=CACHE_DAYS)
        known = LanguageModelCall.objects.filter(
            request_hash=server.request_hash(prompt), created__gte=since, error="", finish_reason__in=("", "stop")
        )
        row = known.order_by("-created").first()
        if row is None:
            return None
        return Completion(row.text, server.shown, row.finish_reason, cached=True)

    def record(self, call: Call) -> None:
        """Store a call, and tell it to the observers."""
        tell(_called(call))
        try:
            with transaction.atomic():
                record_call(call)
        except DatabaseError as error:
            log.warning("language model call not recorded", error=type(error).__name__)


def _called(call: Call) -> ModelCalled:
    prices, currency = settings.GRASP_LLM_PRICES
    tokens = dict(call.completion.tokens) if call.completion else {}
    price = prices.get(call.server.model, prices.get(ANY_MODEL))
    return ModelCalled(
        model=call.server.model[:300], purpose=call.prompt.purpose[:40], tokens=tokens, seconds=call.seconds,
        error=call.error, price=price.of(tokens) if price else None, currency=currency,
    )  # fmt: skip


def record_call(call: Call) -> LanguageModelCall:
    """Store a call and return its row; the key is removed from everything that the server sent."""
    key, completion = call.server.key, call.completion
    tokens = completion.tokens if completion else {}
    return LanguageModelCall.objects.create(
        endpoint_id=call.server.endpoint_id,
        endpoint_name=call.server.name[:100],
        model=call.server.model[:300],
        purpose=call.prompt.purpose[:40],
        prompt_version=call.prompt.version,
        prompt_fingerprint=call.prompt.fingerprint,
        request_hash=call.server.request_hash(call.prompt),
        structured=call.structured,
        requests=call.requests,
        prompt_tokens=tokens.get("prompt"),
        completion_tokens=tokens.get("completion"),
        seconds=call.seconds,
        finish_reason=completion.finish_reason if completion else "",
        text=key.cut_from(completion.text[:LONGEST_CALL_TEXT]) if completion else "",
        error=key.cut_from(call.error),
    )


def prune_calls(days: int) -> int:
    """Delete calls older than `days`, and return the number of deleted rows."""
    deleted, _ = LanguageModelCall.objects.filter(created__lt=timezone.now() - timedelta(days=days)).delete()
    return deleted
