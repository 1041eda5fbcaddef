"""The web process: `uvicorn grasp_site.asgi:application`."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import IO, Any

import django
from asgiref.sync import ThreadSensitiveContext
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from grasp_site.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")

THREADS = 128
"""Maximum number of requests that run at the same time.

A request that waits for a search keeps its thread; `watch_search.FOLLOWERS` limits the number of these requests.
"""


class Application(ASGIHandler):
    """Django's ASGI handler, with each request answered on one thread of a pool from its start to its close.

    By default, Django starts a thread for every request and changes threads six times: for its signals, before and
    after synchronous middleware, and to close the response. The changes take longer than the answer to a small
    request. Here the event loop only reads the request and sends the answer. Streaming responses stay on the loop.
    """

    def load_middleware(self, is_async: bool = True) -> None:
        """Build the synchronous middleware chain and the pool on which it runs."""
        super().load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request. Raises ValueError for a protocol other than HTTP."""
        if scope["type"] != "http":
            raise ValueError(f"The site answers HTTP only, not {scope['type']}.")
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        loop = asyncio.get_running_loop()
        response = await loop.run_in_executor(self._threads, copy_context().run, self._answered, scope, body)
        if not response.streaming:
            await self.send_response(response, send)
            return
        try:
            async with ThreadSensitiveContext():
                await self._stream(response, receive, send)
        finally:
            # Closing tells Django that the request has ended, and may use the database.
            await loop.run_in_executor(self._threads, response.close)

    def _answered(self, scope: Any, body: IO[bytes]) -> Any:
        """Return the response to a request, closed unless it streams; the calling thread keeps no connection."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request, refused = self.create_request(scope, body)
            response: Any = refused if request is None else self.get_response(request)
            response._handler_class = self.__class__
            if isinstance(response, FileResponse):
                response.block_size = self.chunk_size
        finally:
            body.close()
        if not response.streaming:
            response.close()
        return response

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send a streaming response, and stop when the caller goes away."""
        sending = asyncio.create_task(self.send_response(response, send))
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        for task in (leaving, sending):
            task.cancel()
            with suppress(RequestAborted, asyncio.CancelledError):
                await task


django.setup(set_prefix=False)
application = BodyLimit(Application(), settings.GRASP_UPLOAD_CHUNK_MEGABYTES << 20)
