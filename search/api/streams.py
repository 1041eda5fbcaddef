"""Server-sent events: what the streams of searches and jobs share."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, connection
from django.http import StreamingHttpResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from search.services.searches.watch_search import Following

HEARTBEAT_SECONDS = 10.0
"""Seconds without an event after which a comment is sent to show that the stream is alive."""
LONGEST_STREAM_SECONDS = 120.0
"""Longest duration of a stream, in seconds. A browser then reconnects by itself with the last event id it received."""
RETRY_MILLISECONDS = 1000
DATABASE_AWAY = "Postgres does not answer; the stream ends here, and can be asked again from the last id."


class AnyAccept(BaseContentNegotiation):
    """Content negotiation that accepts every `Accept` header, because DRF has no renderer for a stream of events."""

    def select_parser(self, request: Request, parsers: object) -> None:
        """Return None: a request for a stream has no body."""

    def select_renderer(
        self, request: Request, renderers: object, format_suffix: str | None = None
    ) -> tuple[JSONRenderer, str]:
        """Return the JSON renderer, which is used for problems only; the stream is not rendered by DRF."""
        return JSONRenderer(), "application/json"


class SentEvent(Protocol):
    """An event of a stream; `id` is the position from which a caller can continue."""

    @property
    def id(self) -> object:
        """The position after this event."""
        ...

    @property
    def name(self) -> str:
        """The type of the event."""
        ...

    @property
    def data(self) -> Any:
        """The content, as JSON."""
        ...


class EventSource(Protocol):
    """What a stream is of. It remembers its position between two looks."""

    @property
    def position(self) -> object:
        """The id of the last event that was returned."""
        ...

    def look(self) -> tuple[Sequence[SentEvent], bool]:
        """Return the new events, and whether no more events follow. Raises ObjectDoesNotExist if the row is deleted."""
        ...


def event_stream(followed: UUID, source: EventSource, problem: dict[str, Any]) -> StreamingHttpResponse:
    """Return the response that streams a source's events whenever the row `followed` changes.

    `problem` is sent with its title and detail if Postgres does not answer.
    """
    stream = StreamingHttpResponse(_texts(followed, source, problem), content_type="text/event-stream")
    stream["Cache-Control"] = "no-store"
    stream["X-Accel-Buffering"] = "no"
    return stream


async def _texts(followed: UUID, source: EventSource, problem: dict[str, Any]) -> AsyncIterator[str]:
    """Yield the text of the stream: events as they happen, and comments while none happen.

    It stops when the source ends or after `LONGEST_STREAM_SECONDS`.
    """
    look = sync_to_async(_look, thread_sensitive=False)
    began = spoke = time.monotonic()
    with Following().of(followed) as following:
        yield f"retry: {RETRY_MILLISECONDS}\n\n"
        while time.monotonic() - began < LONGEST_STREAM_SECONDS:
            try:
                events, ended = await look(source)
            except DatabaseError:
                failure = problem | {"title": "Postgres is not available", "detail": DATABASE_AWAY}
                yield _written(source.position, "problem", failure)
                return
            except ObjectDoesNotExist:
                return
            for event in events:
                spoke = time.monotonic()
                yield _written(event.id, event.name, event.data)
            if ended:
                return
            if time.monotonic() - spoke > HEARTBEAT_SECONDS:
                spoke = time.monotonic()
                yield ": still there\n\n"
            await following.changed(HEARTBEAT_SECONDS - (time.monotonic() - spoke))


def _look(source: EventSource) -> tuple[Sequence[SentEvent], bool]:
    """Look at the source on a thread that many streams share; so the database connection is closed at once."""
    try:
        return source.look()
    finally:
        connection.close()


def _written(position: object, name: str, data: Any) -> str:
    return f"id: {position}\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
