"""Refuses request bodies that are larger than any part of the site takes, before they are stored.

Django writes the whole body of a request to a temporary file before it asks who the caller is. Without this limit,
anybody could fill the disk.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from search.services.observing.carried import request_id_from

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

SPARE = 1 << 16
"""Bytes that a body may have beyond the limit of a piece, for what surrounds it in a form."""


class BodyLimit:
    """An ASGI application that answers 413 to bodies of more than `largest` bytes, and passes other requests on."""

    def __init__(self, application: Application, largest: int) -> None:
        self._application = application
        self._largest = largest + SPARE

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        stated = dict(scope["headers"]).get(b"content-length", b"0")
        if stated.isdigit() and (len(stated) > 18 or int(stated) > self._largest):
            await self._refuse(scope, send)
            return
        counted = _Counted(receive, send, self._largest)
        await self._application(scope, counted.receive, counted.send)
        if counted.passed and not counted.answered:
            await self._refuse(scope, send)

    async def _refuse(self, scope: Any, send: Send) -> None:
        identifier = request_id_from(dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1"))
        document = {
            "type": "urn:grasp:problem:content-too-large", "title": "Content Too Large", "status": 413,
            "detail": f"A request has at most {self._largest:,} bytes; send a file in several pieces.", "errors": [],
            "request_id": identifier,
        }  # fmt: skip
        headers = [
            (b"content-type", b"application/problem+json"),
            (b"connection", b"close"),
            (b"x-request-id", identifier.encode()),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(document).encode()})


class _Counted:
    """The channels of a request; once its body is too large, the application sees a closed connection."""

    def __init__(self, receive: Receive, send: Send, largest: int) -> None:
        self._receive = receive
        self._send = send
        self._left = largest
        self.passed = False
        self.answered = False

    async def receive(self) -> Message:
        """Return the next message."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self.passed = True
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on."""
        self.answered = True
        await self._send(message)
